/** The directory that a run makes for itself: what it puts below it is at another path in every session. */
const ownPath = /\/gvb-[A-Za-z0-9]{6}(?=[/,;:]|$)[^,;:]*/g;

/** A setting as it is the same in every session. */
export const lasting = (value: string): string => value.replace(ownPath, '/{runDir}');

/** Whether it says where a run was and nothing of the system. */
export const isOfOneRun = (value: string): boolean => lasting(value) !== value;
