/** The switches of a scene whose tenants take turns, each with the first answer of the tenant that was let on. */
import type { Switch } from '../../checkpoint/rotation.js';
import type { AnswerTimes } from './answer-times.js';

export interface AnsweredSwitch extends Switch {
  /** The victim that was let on and answered; null: it gave no answer before the next switch. */
  victim: string | null;
  /** From the first lock of the tenant before it to its first answer, in ms. */
  answerMs: number | null;
}

/** What a scene's tenants did in their turns, in the runs together that count. */
export interface SceneTurns {
  sliceMs: number;
  /** Switches of each run. */
  runs: readonly (readonly AnsweredSwitch[])[];
  /** Most memory in use on the card in any look of the round; null: NVML did not report it. */
  mostUsedBytes: number | null;
}

interface Answering {
  name: string;
  /** The tenant's name in switches. */
  tenant: string;
  answers: AnswerTimes | null;
}

export const withAnswers = (switches: readonly Switch[], victims: readonly Answering[]): AnsweredSwitch[] =>
  switches.map((each, place) => {
    const { name, answers } = victims.find(({ tenant }) => tenant === each.tenant) ?? { name: null, answers: null };
    // What comes after it is of another turn.
    const atNs = answers?.firstIn(each.unlockNs, switches[place + 1]?.unlockNs ?? Infinity) ?? null;
    return {
      ...each,
      victim: atNs === null ? null : name,
      answerMs: atNs === null ? null : (atNs - each.lockNs) / 1e6,
    };
  });
