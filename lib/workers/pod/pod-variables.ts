/** Variables in the environment of every process that is started in a pod: the pod's name, and the process's own mark. */
export const POD_VARIABLE = 'GVB_POD';
export const PROCESS_VARIABLE = 'GVB_POD_PROCESS';
