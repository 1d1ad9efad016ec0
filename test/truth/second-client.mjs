// An independent client for consecutive streamed requests: raw sockets, no parser of HTTP or events. For each request
// it prints the nanoseconds of CLOCK_MONOTONIC at which it was sent and at which each piece of text was read.
import { connect } from 'node:net';

const [port, count, tokens] = process.argv.slice(2).map(Number);
const body = JSON.stringify({ messages: [], stream: true, max_tokens: tokens });
const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\ncontent-length: ${body.length}\r\n\r\n`;

const socket = connect(port, '127.0.0.1').setNoDelay();
await new Promise((connected) => socket.once('connect', connected));
for (let i = 0; i < count; i++) {
  const sentNs = String(process.hrtime.bigint());
  const tokenNs = [];
  let id = null;
  await new Promise((done) => {
    let text = '';
    let seen = 0;
    const read = (bytes) => {
      const now = String(process.hrtime.bigint());
      text += bytes.toString('latin1');
      const found = [...text.matchAll(/"content":"[^"]+"/g)].length;
      for (; seen < found; seen++) tokenNs.push(now);
      id ??= /"id":"([^"]+)"/.exec(text)?.[1] ?? null;
      if (!text.includes('[DONE]') || !text.endsWith('0\r\n\r\n')) return;
      socket.off('data', read);
      done();
    };
    socket.on('data', read);
    socket.write(head + body);
  });
  console.log(JSON.stringify({ id, sentNs, tokenNs }));
}
socket.end();
