import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { loopLag } from '../loop-lag.ts';
import type { Figure } from '../report.ts';

/** Size of the longest file that still has its own reveal, in bytes. */
const fileBytes = 380_000;
/** Number of files. All contents of a request may have at most 50 MB. */
const files = Math.floor(50_000_000 / fileBytes);
const clients = 3;

export interface LargeOrdersParts {
  readonly origin: string;
  readonly receiveAddress: string;
  readonly peakMemoryMB: () => Promise<number>;
}

/**
 * Measures orders with 50 MB of files, first one alone and then from three clients at once. Returns the process'
 * memory, and the delays of its event loop.
 */
export async function largeOrders({
  origin,
  receiveAddress,
  peakMemoryMB,
}: LargeOrdersParts): Promise<Figure[]> {
  const bodies = Array.from({ length: clients }, () => bodyOf(receiveAddress));
  await post(origin, bodyOf(receiveAddress), '127.0.0.9');
  const aloneMB = await peakMemoryMB();
  // each report starts a new measurement in the process
  await loopLag(origin);
  const startedAt = performance.now();
  await Promise.all(bodies.map((body, client) => post(origin, body, `127.0.0.${client + 1}`)));
  const elapsedMs = performance.now() - startedAt;
  const { p99Ms, longestMs } = await loopLag(origin);
  return [
    { name: 'largeBodiesLoopP99Ms', value: p99Ms, unit: 'ms', target: { most: 50 } },
    { name: 'largeBodiesLoopLongestMs', value: longestMs, unit: 'ms' },
    { name: 'largeBodiesAnsweredMs', value: elapsedMs, unit: 'ms' },
    { name: 'largeBodyPeakMemoryMB', value: aloneMB, unit: 'MB', target: { most: 800 } },
    { name: 'largeBodiesPeakMemoryMB', value: await peakMemoryMB(), unit: 'MB', target: { most: 800 } },
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
 * Sends a POST request from a separate IP address, because each address may have only few large bodies open. Uses no
 * fetch, which would not report a refusal before the complete body is sent.
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
