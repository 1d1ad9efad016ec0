/** In the environment of every process that is started in a container: its name. */
export const CONTAINER_VARIABLE = 'GVB_CONTAINER';
