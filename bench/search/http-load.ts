import { performance } from 'node:perf_hooks';
import { Agent, request } from 'undici';
import { type Random, seededRandom } from '#test/builders/random.ts';
import { SatscribeProcess } from '../follow/satscribe-process.ts';
import type { Corpora } from './questions.ts';

const clients = 32;
const warmUpMs = 3000;
const measuredMs = 20_000;

/** A typical mix of needles. Most are rare, and some are in half of all texts. */
const mix = [
  ['rare', 0.5],
  ['and', 0.2],
  ['punctuation', 0.1],
  ['short', 0.1],
  ['common', 0.1],
] as const;

function path({ needles }: Corpora, random: Random): string {
  let rest = random.unit();
  const [name] = mix.find(([, share]) => (rest -= share) < 0) ?? mix[0];
  const list = needles[name][random.below(needles[name].length)] as readonly string[];
  const phrase = list.length === 1 ? '&phrase=1' : '';
  return `/search?text=${encodeURIComponent(list.join(','))}${phrase}&itemsPerPage=20`;
}

export interface Load {
  readonly requestsPerSecond: number;
  readonly timesMs: readonly number[];
}

/**
 * Measures searches per second over HTTP with a complete service. 32 concurrent clients each wait for their response,
 * and share the machine with the service. Throws for any status except 200.
 */
export async function httpLoad(
  dataDir: string,
  settings: Readonly<Record<string, string>>,
  corpora: Corpora,
): Promise<Load> {
  const service = await SatscribeProcess.start(['serve', '--port', '0'], dataDir, { ...settings });
  const agent = new Agent({ connections: clients, headersTimeout: 60_000, bodyTimeout: 60_000 });
  try {
    const origin = await service.ready();
    const timesMs: number[] = [];
    const startAt = performance.now() + warmUpMs;
    const endAt = startAt + measuredMs;
    const client = async (number_: number): Promise<void> => {
      const random = seededRandom(`client ${number_} ${corpora.seed}`);
      while (performance.now() < endAt) {
        const start = performance.now();
        const url = `${origin}${path(corpora, random)}`;
        const { statusCode, body } = await request(url, { dispatcher: agent });
        const text = await body.text();
        if (statusCode !== 200) throw new Error(`${url}: ${statusCode} ${text.slice(0, 200)}`);
        if (start >= startAt) timesMs.push(performance.now() - start);
      }
    };
    await Promise.all(Array.from({ length: clients }, (_, index) => client(index)));
    return { requestsPerSecond: timesMs.length / (measuredMs / 1000), timesMs };
  } finally {
    await agent.close();
    await service.stop();
  }
}
