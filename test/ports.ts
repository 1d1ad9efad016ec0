/** TCP ports of this machine. */
import { createServer, type Server } from 'node:net';

/** Something listens at it until the server is closed. */
export async function openPort(): Promise<{ port: number; server: Server }> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return { port: (server.address() as { port: number }).port, server };
}

/** Nothing listens at it. */
export async function closedPort(): Promise<number> {
  const { port, server } = await openPort();
  await new Promise((closed) => server.close(closed));
  return port;
}
