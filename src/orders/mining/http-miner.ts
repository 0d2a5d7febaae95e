import { virtualSize } from '#kernel/bitcoin/transaction-size.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import type { OutgoingHttp } from '#outgoing/outgoing-http.ts';
import type { Miner, MinerAnswer, OfferedTransaction } from './miner.ts';
import { readMinerAnswer } from './read-miner-answer.ts';

/** Version of the protocol. A miner with another version refuses. */
const version = 1;
/** How long a reply to an offer may take, in ms. A customer waits for it. */
const offerMs = 5_000;
/**
 * How long handing over a package may take, in ms. A package has up to 8 MB of hex, which takes one minute at one
 * megabit per second.
 */
const packageMs = 60_000;
/** Maximum number of bytes of a reply. Replies have a few hundred bytes, and a longer reply breaks the protocol. */
const answerBytesMax = 64 * 1024;

/** The miner at a URL. The URL may contain a secret, so no message shows any part of it. */
export function httpMiner(
  http: Pick<OutgoingHttp, 'post'>,
  url: string,
  network: () => Promise<NetworkName>,
): Miner {
  const base = url.endsWith('/') ? url.slice(0, -1) : url;
  const ask = async (
    path: string,
    body: object,
    timeoutMs: number,
    signal: AbortSignal,
    id: string | null,
  ): Promise<MinerAnswer> => {
    try {
      const request = {
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: Buffer.from(JSON.stringify({ version, network: await network(), ...body })),
        bytesMax: answerBytesMax,
        timeoutMs,
        signal,
      };
      return readMinerAnswer(await http.post(`${base}${path}`, request), id);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof AppError) || !error.code.startsWith('url_')) throw error;
      return { kind: 'silent', why: error.message };
    }
  };
  return {
    offer: ({ commit, reveal, feeRate }, signal) =>
      ask(
        '/offer',
        { commit: shown(commit), reveal: shown(reveal), feeRate: Number(feeRate) / 1000 },
        offerMs,
        signal,
        null,
      ),
    hand: ({ reveal, transactions }, signal) => {
      const id = displayHash(reveal);
      const hexes = transactions.map((bytes) => Buffer.from(bytes).toString('hex'));
      return ask('/package', { id, transactions: hexes }, packageMs, signal, id);
    },
  };
}

const shown = ({ weight, fee }: OfferedTransaction) => ({
  weight,
  virtualSize: virtualSize(weight),
  fee: Number(fee),
});
