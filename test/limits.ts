/** How long a test may take before it counts as hung: the machine may be slow, and busy with other work. */
export const TEST_MS = 600_000;
/** How long a test waits for one thing. Shorter, so that a failure names what it waited for. */
export const WAIT_MS = 540_000;
/** How long a test waits for a text of a command, which should come soon, so that a changed sentence fails soon. */
export const SAID_MS = 60_000;
