/** Variable with the container's name in the environment of every process that is started in it. */
export const CONTAINER_VARIABLE = 'GVB_CONTAINER';
