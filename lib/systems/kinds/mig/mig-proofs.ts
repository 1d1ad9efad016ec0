/** Whether a process is on its MIG instance: what it sees itself, and what NVML says outside. */
import { inWords } from '../../../config/size.js';
import { profileOf } from '../../../environment/named-gpu.js';
import { isInstance } from '../../../results/cards.js';
import type { MigInstance, NativeDevice } from '../../../native/addon-types.js';
import type { Finding } from '../../proof/proof-finding.js';
import { placeOf } from './instances.js';

const help =
  'An administrator may have changed the instances, or the container or the environment shows another device: compare with nvidia-smi -L.';

const finding = (proof: string, passed: boolean | null, detail: string): Finding => ({
  proof,
  passed,
  detail,
  advice: help,
});

const known = (value: number | null): string => (value === null ? 'unknown' : `${value}`);

/** `isWhole`: the layer inside gives a process all multiprocessors of the instance. */
export function seenInside(devices: readonly NativeDevice[], wanted: MigInstance, isWhole: boolean): Finding[] {
  const [device, ...others] = devices;
  const uuids = devices.map(({ uuid }) => (isInstance(uuid) ? uuid : `${uuid} (a whole GPU)`)).join(', ') || 'no GPU';
  const own = device?.uuid === wanted.uuid && others.length === 0;
  const findings = [
    finding('the process sees its MIG instance alone', own, `it sees ${uuids}; the instance is ${wanted.uuid}`),
  ];
  if (!device) return findings;
  const [profile, expected] = [profileOf(device.name), profileOf(wanted.name)];
  const { multiprocessors: sms } = wanted;
  const counts = `the process has ${device.multiprocessors}, the instance ${known(sms)}`;
  const fits = sms === null ? null : isWhole ? device.multiprocessors === sms : device.multiprocessors <= sms;
  return [
    ...findings,
    finding(
      'profile in the name of the device',
      profile === null || expected === null ? null : profile === expected,
      `the device is called ${device.name}, the instance ${wanted.name}`,
    ),
    finding('multiprocessors of the instance', fits, counts),
    finding(
      'memory of the instance by NVML',
      device.memoryBytes === wanted.memoryBytes,
      `${inWords(device.memoryBytes)} inside, ${inWords(wanted.memoryBytes)} outside`,
    ),
  ];
}

/** The instance may be destroyed and created again with other parts while it is measured. */
export function seenOutside(listed: readonly MigInstance[], wanted: MigInstance): Finding {
  const proof = 'the instance by NVML outside';
  const found = listed.find(({ uuid }) => uuid === wanted.uuid);
  if (!found) return finding(proof, false, `${wanted.uuid} is not listed any more`);
  const parts = (one: MigInstance) =>
    `${placeOf(one)}: ${profileOf(one.name) ?? 'unknown profile'}, ${known(one.multiprocessors)} multiprocessors, ${inWords(one.memoryBytes)}`;
  const same = parts(found) === parts(wanted);
  return finding(proof, same, same ? parts(found) : `${parts(found)}; at first ${parts(wanted)}`);
}
