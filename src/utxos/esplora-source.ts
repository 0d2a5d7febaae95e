import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { maxMoney } from '#kernel/bitcoin/consensus.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { asBlockHashHex, parseTxid } from '#kernel/primitives/hash.ts';
import { asHeight, maxHeight, parseHeight } from '#kernel/primitives/height.ts';
import { asSats } from '#kernel/primitives/sats.ts';
import type { OutgoingHttp } from '#outgoing/outgoing-http.ts';
import {
  inChainOrder,
  type ListedOutput,
  type Listing,
  type Owner,
  outputsMax,
  tooManyOutputs,
  type UtxoSource,
} from './utxo.ts';

/** Maximum size of a response, in bytes. An output needs 250 bytes in the public form. */
const answerBytesMax = outputsMax * 400;
/** How long to wait for a response, in ms. Public servers need seconds for an address with thousands of outputs. */
const timeoutMs = 20_000;
/** Maximum size of a response with a height, or of an error message, in bytes. */
const heightBytesMax = 1_000;

const hash = Type.String({ pattern: '^[0-9a-f]{64}$' });
const answer = Compile(
  Type.Array(
    Type.Object({
      txid: hash,
      vout: Type.Integer({ minimum: 0, maximum: 0xffff_ffff }),
      value: Type.Integer({ minimum: 0, maximum: maxMoney }),
      status: Type.Union([
        Type.Object({
          confirmed: Type.Literal(true),
          block_height: Type.Integer({ minimum: 0, maximum: maxHeight }),
          block_hash: hash,
          block_time: Type.Integer({ minimum: 0 }),
        }),
        Type.Object({ confirmed: Type.Literal(false) }),
      ]),
    }),
  ),
);

/**
 * A server with the interface of Esplora, such as a mempool.space server. Addresses are requested one after another.
 */
export class EsploraSource implements UtxoSource {
  readonly name = 'esplora';
  readonly #http: OutgoingHttp;
  readonly #base: string;

  /** @param url base URL, without the paths of requests: `https://mempool.example.com/api` */
  constructor(http: OutgoingHttp, url: string) {
    this.#http = http;
    this.#base = url.endsWith('/') ? url.slice(0, -1) : url;
  }

  /** The unspent outputs of these addresses. Throws `utxo_source_unreachable` and `utxo_source_invalid`. */
  async list(owners: readonly Owner[], { signal }: Asker): Promise<Listing> {
    // the tip is read first, so that blocks that are added meanwhile are above it
    const tipHeight = parseHeight((await this.#get('/blocks/tip/height', heightBytesMax, signal)).trim());
    if (tipHeight === null) throw invalid('gives no height');
    const outputs: ListedOutput[] = [];
    for (const owner of owners) {
      for (const output of await this.#ofAddress(owner, signal)) outputs.push(output);
      if (outputs.length > outputsMax) throw tooManyOutputs();
    }
    return { tipHeight, outputs: inChainOrder(outputs) };
  }

  async #ofAddress({ script, address }: Owner, signal: AbortSignal): Promise<ListedOutput[]> {
    const text = await this.#get(`/address/${address}/utxo`, answerBytesMax, signal);
    const given = jsonOf(text);
    if (!answer.Check(given)) throw invalid('gives outputs in an unknown form');
    return given.flatMap(({ txid, vout, value, status }): ListedOutput[] => {
      const id = parseTxid(txid);
      // unconfirmed outputs are not part of the chain
      if (id === null || !status.confirmed) return [];
      return [
        {
          txid: id,
          vout,
          value: asSats(value),
          script,
          height: asHeight(status.block_height),
          blockHash: asBlockHashHex(status.block_hash),
          blockTime: status.block_time,
        },
      ];
    });
  }

  async #get(path: string, bytesMax: number, signal: AbortSignal): Promise<string> {
    try {
      const { status, bytes } = await this.#http.get(`${this.#base}${path}`, { bytesMax, timeoutMs, signal });
      const text = Buffer.from(bytes).toString();
      // Esplora refuses long lists: "Too many unspent transaction outputs (>500)"
      if (status === 400 && text.startsWith('Too many')) throw tooManyOutputs();
      if (status === 200) return text;
      if (status === 429 || status >= 500) throw unreachable(`answers with status ${status}`);
      throw invalid(`answers with status ${status}`);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (error.code === 'url_unreachable') throw unreachable('does not answer', error);
      if (error.code === 'url_answer_too_long') throw invalid('sends too much', error);
      throw error;
    }
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

// clients read these messages, so the messages must not contain the server's URL, which may contain a token
const unreachable = (what: string, cause?: unknown): AppError =>
  new AppError('utxo_source_unreachable', `the server of ESPLORA_URL ${what}`, {}, cause);
const invalid = (what: string, cause?: unknown): AppError =>
  new AppError('utxo_source_invalid', `the server of ESPLORA_URL ${what}`, {}, cause);
