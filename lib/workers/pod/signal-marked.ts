/**
 * Sends a signal to the processes of this pod that carry a mark: what ends `kubectl exec` does not end what it started.
 * Arguments: NAME=VALUE of their environment, and the name of the signal.
 */
import { signalMarked } from '../marked-processes.js';

const [mark = '', signal = ''] = process.argv.slice(2);
signalMarked(mark, signal as NodeJS.Signals);
