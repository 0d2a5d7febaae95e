/** The thread of ./announcements.ts: tells when each `hashblock` message of a node arrived. */

import { parentPort, workerData } from 'node:worker_threads';
import { Subscriber } from 'zeromq';
import { type Announcement, now } from './announcements.ts';

const socket = new Subscriber();
socket.connect(workerData as string);
socket.subscribe('hashblock');
parentPort?.once('message', () => {
  socket.close();
  parentPort?.close();
});
parentPort?.postMessage('listening');
for await (const [, body] of socket) {
  const at = now();
  if (body !== undefined) parentPort?.postMessage({ hash: body.toString('hex'), at } satisfies Announcement);
}
