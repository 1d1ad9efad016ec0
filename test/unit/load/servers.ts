/** Servers with arbitrary behaviour, closed after the test that opened them. */
import { createServer as createHttp, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcp, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

const listening = (server: Pick<Server, 'listen' | 'address'>): Promise<string> =>
  new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`));
  });

/** Its URL. */
export function httpServer(listener: RequestListener): Promise<string> {
  const server = createHttp(listener);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return listening(server);
}

/** Writes arbitrary bytes: `onRequest` is called with each piece that arrives. */
export function tcpServer(onRequest: (socket: Socket, bytes: Buffer) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createTcp((socket) => {
    sockets.add(socket);
    // A client that ends an exchange early resets it.
    socket.on('error', () => {}).on('data', (bytes: Buffer) => onRequest(socket, bytes));
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return listening(server as unknown as Server);
}

/** A URL at which nothing listens. */
export async function closedUrl(): Promise<string> {
  const server = createHttp();
  const url = await listening(server);
  await new Promise((closed) => server.close(closed));
  return url;
}
