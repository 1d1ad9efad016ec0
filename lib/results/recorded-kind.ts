/** What the kind of a recorded system says of its rounds. */

interface Recorded {
  system: { kind: string };
}

/** Whether the round was measured without a layer. */
export const isNative = (round: Recorded | undefined): boolean => round?.system.kind === 'native';

/** Whether the round was measured in the caller's environment, which claims no system. */
export const isEnvironment = (round: Recorded | undefined): boolean => round?.system.kind === 'environment';
