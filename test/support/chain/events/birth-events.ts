import type { BlockEventText } from '#chain/events/stored-event-kind.ts';
import type { EventKind } from '#indexer/events/event-kind.ts';
import type { EventKindIdentity } from '#kernel/events/event-kind.ts';
import { EventTextWriter } from '#kernel/events/event-text-writer.ts';
import { asBlockHash, type BlockHash } from '#kernel/primitives/hash.ts';
import { asHeight, type Height } from '#kernel/primitives/height.ts';

export interface BirthKindOptions {
  readonly version?: number;
  readonly firstHeight?: Height;
  /** Returns the maximum height at which blocks can be read, or `null` if there is no limit. */
  readonly reached?: () => number | null;
}

interface BlockRow {
  height: Height;
  hash: BlockHash;
  is_known: boolean;
}

interface BirthRow {
  height: number;
  txid: Buffer;
  index: number;
}

const born = Buffer.from('born ', 'latin1');

/**
 * A kind of events that is added like a capability adds one: one line per new inscription, from the kind's own first
 * height on. This file contains the whole kind.
 */
export function birthKind({
  version = 1,
  firstHeight = asHeight(90),
  reached = () => null,
}: BirthKindOptions = {}): EventKind {
  const identity: EventKindIdentity = { name: 'births', number: 9, letter: 'b', version };
  const isWithin = (height: number): boolean => height <= (reached() ?? height);
  return {
    ...identity,
    indexes: ['locations_spent'],
    firstHeight: () => firstHeight,
    ledgerEvents: ({ block, ledger: { inscriptions }, isKnown }) => ({
      count: inscriptions.count,
      isKnown,
      write: (out) => {
        for (let row = 0; row < inscriptions.count; row++) {
          out.word(born);
          out.id(block.columns.revealTxid, inscriptions.reveal[row]! * 32, inscriptions.index[row]!);
          out.endLine();
        }
      },
    }),
    isKnownAt: async (client, height) => {
      const { rowCount } = await client.query('SELECT FROM chain.blocks WHERE height = $1 AND anchored', [
        height,
      ]);
      return rowCount === 1 && isWithin(height);
    },
    readTexts: async (client, network, { from, to, keep }): Promise<BlockEventText[]> => {
      const blocks = await client.query<BlockRow>(
        'SELECT height, hash, anchored AS is_known FROM chain.blocks WHERE height BETWEEN $1 AND $2 ORDER BY height',
        [from, to],
      );
      const births = await client.query<BirthRow>(
        'SELECT height, txid, index FROM chain.inscriptions WHERE height BETWEEN $1 AND $2 ORDER BY key',
        [from, to],
      );
      const out = new EventTextWriter(Number.POSITIVE_INFINITY);
      return blocks.rows.map((block) => {
        const ours = births.rows.filter(({ height }) => height === block.height && height >= firstHeight);
        out.begin(identity, network, block, keep);
        for (const { txid, index } of ours) {
          out.word(born);
          out.id(txid, 0, index);
          out.endLine();
        }
        return {
          ref: { height: block.height, hash: asBlockHash(Uint8Array.from(block.hash)) },
          count: ours.length,
          isKnown: block.is_known && isWithin(block.height),
          ...out.finish(),
        };
      });
    },
    whyNotReadable: () => {
      const height = reached();
      return Promise.resolve(height === null ? null : `births are read up to block ${height}`);
    },
    parseLine: (line) => {
      const [type, inscriptionId] = line.split(' ');
      if (type !== 'born' || inscriptionId === undefined) throw new RangeError(`no event: ${line}`);
      return { type: 'inscription-born', inscriptionId } as { type: string };
    },
  };
}
