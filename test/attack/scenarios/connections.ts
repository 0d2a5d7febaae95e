import { randomBytes } from 'node:crypto';
import { get, type Scenario } from '#test/attack/scenario.ts';

const small = get('/r/blockheight', { connection: 'keep-alive' });
/** Number of connections, one more than the service accepts. */
const allConnections = 1005;

const manyHeaders = get(
  '/r/blockheight',
  Object.fromEntries(Array.from({ length: 900 }, (_, index) => [`x-header-${index}`, 'a'])),
);
const longHeaders = get(
  '/r/blockheight',
  Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`x-header-${index}`, 'a'.repeat(8000)])),
);
/** Bytes that are not HTTP/1.1: the beginnings of TLS and HTTP/2, an empty line, and bytes without a line. */
const foreignBytes = [
  Buffer.from('160301020001000001fc0303', 'hex'),
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  Buffer.from('\r\n\r\n\r\n\r\n'),
  randomBytes(4096),
  Buffer.from(`GET ${'/'.repeat(100_000)}`),
];

/** Attacks with connections: clients hold them, or send odd bytes before a request is complete. */
export const connectionScenarios: readonly Scenario[] = [
  {
    name: 'sockets-idle',
    what: '1,005 connections that say nothing',
    run: (attack) => attack.hold(allConnections, null),
  },
  {
    name: 'sockets-kept',
    what: '1,005 connections that asked once and stay',
    run: (attack) => attack.hold(allConnections, small),
  },
  {
    name: 'slowloris',
    what: '1,000 requests whose headers arrive byte by byte',
    run: (attack) =>
      attack.loops(1000, async () => {
        const socket = attack.connect();
        socket.write('GET /r/blockheight HTTP/1.1\r\nx-slow: ');
        while (!attack.isOver && !socket.destroyed) {
          await attack.pause(500 + attack.random.below(500));
          socket.write('a');
        }
        socket.destroy();
      }),
  },
  {
    name: 'sockets-churn',
    what: 'connections that are opened and reset at once',
    run: (attack) => attack.loops(50, async () => attack.exchange(new Uint8Array(0), { abortAfterMs: 0 })),
  },
  {
    name: 'sockets-half-closed',
    what: 'requests after which the client closes its half, and nothing else',
    run: (attack) =>
      attack.loops(100, async () => {
        const socket = attack.connect();
        socket.removeAllListeners('end');
        socket.end(small);
        await attack.pause(1000);
        socket.destroy();
      }),
  },
  {
    name: 'pipelining',
    what: '1,000 requests in one packet, on ten connections',
    run: async (attack) => {
      const requests = Buffer.concat([...Array.from({ length: 999 }, () => small), get('/r/blockheight')]);
      await attack.loops(10, async () => attack.exchange(requests));
    },
  },
  {
    name: 'pipelining-unread',
    what: '1,000 requests for a body of 4 MB in one packet, with unread answers',
    run: async (attack) => {
      const body = get(`/content/${attack.targets.bodies[0]}`, { connection: 'keep-alive' });
      await attack.hold(20, Buffer.concat(Array.from({ length: 1000 }, () => body)), { reads: false });
    },
  },
  {
    name: 'headers-many',
    what: 'requests of 900 headers',
    run: (attack) => attack.loops(20, async () => attack.exchange(manyHeaders)),
  },
  {
    name: 'headers-long',
    what: 'requests of 80 kB of headers, which are refused',
    run: (attack) => attack.loops(20, async () => attack.exchange(longHeaders)),
  },
  {
    name: 'continue-never',
    what: '500 clients that ask whether they may continue, and never do',
    run: async (attack) => {
      const asking = get(
        '/missing',
        { expect: '100-continue', 'content-type': 'application/json', 'content-length': '30000000' },
        'POST',
      );
      await attack.hold(500, asking);
    },
  },
  {
    name: 'foreign-bytes',
    what: 'bytes that are no HTTP',
    run: (attack) =>
      attack.loops(30, async () =>
        attack.exchange(foreignBytes[attack.random.below(foreignBytes.length)]!, { abortAfterMs: 500 }),
      ),
  },
];
