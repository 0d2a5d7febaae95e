import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { loopLag } from '../loop-lag.ts';
import type { Figure } from '../report.ts';

/** Longest file with a reveal of its own. */
const fileBytes = 380_000;
/** All contents of a call have 50 MB at most. */
const files = Math.floor(50_000_000 / fileBytes);
const clients = 3;

export interface LargeOrdersParts {
  readonly origin: string;
  readonly receiveAddress: string;
  readonly peakMemoryMB: () => Promise<number>;
}

/**
 * Orders with 50 MB of files, one alone and then from three clients at once: memory of the process, and how late its
 * event loop gets.
 */
export async function largeOrders({
  origin,
  receiveAddress,
  peakMemoryMB,
}: LargeOrdersParts): Promise<Figure[]> {
  const bodies = Array.from({ length: clients }, () => bodyOf(receiveAddress));
  await post(origin, bodyOf(receiveAddress), '127.0.0.9');
  const aloneMB = await peakMemoryMB();
  // the process forgets what it has told
  await loopLag(origin);
  const startedAt = performance.now();
  await Promise.all(bodies.map((body, client) => post(origin, body, `127.0.0.${client + 1}`)));
  const elapsedMs = performance.now() - startedAt;
  const { p99Ms, longestMs } = await loopLag(origin);
  return [
    { name: 'largeBodiesLoopP99Ms', value: p99Ms, unit: 'ms', target: { most: 50 } },
    { name: 'largeBodiesLoopLongestMs', value: longestMs, unit: 'ms' },
    { name: 'largeBodiesAnsweredMs', value: elapsedMs, unit: 'ms' },
    { name: 'largeBodyPeakMemoryMB', value: aloneMB, unit: 'MB', target: { most: 1000 } },
    { name: 'largeBodiesPeakMemoryMB', value: await peakMemoryMB(), unit: 'MB' },
  ];
}

function bodyOf(receiveAddress: string): string {
  const list = Array.from({ length: files }, (_, index) => ({
    name: `${index}.png`,
    size: fileBytes,
    dataURL: `data:image/png;base64,${randomBytes(fileBytes).toString('base64')}`,
  }));
  return JSON.stringify({ files: list, receiveAddress, fee: 2 });
}

/**
 * From an address of its own, as each has few large bodies open. A refusal may come before all of the body is sent,
 * which fetch would not tell.
 */
function post(origin: string, body: string, localAddress: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const sending = request(`${origin}/inscribe`, { method: 'POST', headers, localAddress }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
      });
      answer.on('end', () => {
        if (answer.statusCode === 200) resolve();
        else reject(new Error(`a large order was answered ${answer.statusCode}: ${text.slice(0, 300)}`));
      });
    });
    sending.on('error', reject);
    sending.end(body);
  });
}
