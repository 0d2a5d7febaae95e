import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { applyBlock } from '#indexer/ledger/inscriptions/apply-block.ts';
import { type HeldInscriptions, type LedgerBlock, places } from '#indexer/ledger/ledger-block.ts';
import { type BlockColumns, decodeBlockColumns } from '#indexer/parse/block-columns.ts';
import { parseBlock } from '#indexer/parse/parse-block.ts';
import { expandFingerprintKey } from '#indexer/transaction/outpoint-fingerprint.ts';
import { InputWalk } from '#indexer/transaction/transaction-parts.ts';
import { charmNames } from '#kernel/primitives/charm.ts';
import { asTxid, displayHash } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { formatInscriptionId, parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import { networks } from '#kernel/primitives/network.ts';

const root = join(import.meta.dirname, '../../../..');

interface OrdEvent {
  readonly type: 'InscriptionCreated' | 'InscriptionTransferred';
  readonly inscription_id: string;
  readonly sequence_number: number;
  readonly location?: string | null;
  readonly charm_names?: string[];
  readonly new_location?: string;
  readonly old_location?: string;
}

const eventsOf = (height: number): OrdEvent[] =>
  brotliDecompressSync(readFileSync(join(root, `test/fixtures/ledger/ord-events-${height}.ndjson.br`)))
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as OrdEvent);

function sample(folder: 'blocks' | 'spent', height: number): Uint8Array<ArrayBuffer> {
  const dir = join(root, 'samples/mainnet', folder);
  const name = readdirSync(dir).find((file) => file.startsWith(String(height).padStart(7, '0')))!;
  return Uint8Array.from(readFileSync(join(dir, name)));
}

/** Outpoints as ord shows them, with the index of the input that spends each. */
function spentOutpoints(columns: BlockColumns, block: Uint8Array): Map<string, number> {
  const inputs = new Map<string, number>();
  const walk = new InputWalk(block);
  const view = new DataView(block.buffer);
  for (let tx = 1; tx < columns.txOutputs.length; tx++) {
    walk.open(columns.txStart[tx]!);
    const first = columns.txFirstInput[tx]!;
    for (let input = first; input < columns.txFirstInput[tx + 1]!; input++) {
      const at = walk.outpointOf(input - first);
      inputs.set(`${displayHash(block.subarray(at, at + 32))}:${view.getUint32(at + 32, true)}`, input);
    }
  }
  return inputs;
}

/** The location of every inscription before its first move in these blocks, taken from ord's own events. */
function heldBefore(events: readonly OrdEvent[], inputs: ReadonlyMap<string, number>): HeldInscriptions {
  const seen = new Set<number>();
  const rows: { input: number; key: number; offset: number; id: Uint8Array }[] = [];
  for (const event of events) {
    if (seen.has(event.sequence_number)) continue;
    seen.add(event.sequence_number);
    if (event.old_location === undefined) continue;
    const [txid = '', vout = '', offset = ''] = event.old_location.split(':');
    const id = new Uint8Array(36);
    const { txid: revealed, index } = parseInscriptionId(event.inscription_id)!;
    id.set(revealed);
    new DataView(id.buffer).setUint32(32, index, true);
    const input = inputs.get(`${txid}:${vout}`)!;
    rows.push({ input, key: event.sequence_number, offset: Number(offset), id });
  }
  rows.sort((a, b) => a.input - b.input || a.key - b.key);
  return {
    count: rows.length,
    input: Uint32Array.from(rows, ({ input }) => input),
    key: Int32Array.from(rows, ({ key }) => key),
    satOffset: Float64Array.from(rows, ({ offset }) => offset),
    id: Uint8Array.from(rows.flatMap(({ id }) => [...id])),
    // ord's events do not contain curses; no inscription that is inscribed again in these blocks was cursed
    curse: new Uint8Array(rows.length),
    height: new Int32Array(rows.length),
    step: new Uint32Array(rows.length),
  };
}

/** Our location rows as ord writes events. */
function ourEvents(
  result: LedgerBlock,
  columns: BlockColumns,
  ids: ReadonlyMap<number, string>,
): Record<string, unknown>[] {
  const { locations, inscriptions, txids } = result;
  const written = new Set<number>();
  return Array.from({ length: locations.count }, (_, row) => {
    const key = locations.key[row]!;
    const at = key - inscriptions.firstKey;
    const reveal = inscriptions.reveal[at]!;
    const revealed = columns.revealTxid.subarray(reveal * 32, reveal * 32 + 32);
    const entry = locations.txid[row]!;
    const txid = entry < 0 ? revealed : txids.subarray(entry * 32, entry * 32 + 32);
    expect(locations.place[row]).toBe(places.output);
    const location = `${displayHash(txid)}:${locations.vout[row]}:${locations.satOffset[row]}`;
    const isNew = at >= 0 && !written.has(key);
    written.add(key);
    const id = at >= 0 ? formatInscriptionId(asTxid(revealed), inscriptions.index[at]!) : ids.get(key)!;
    return isNew
      ? { id, sequence: key, location, charms: charmNames(inscriptions.charms[at]!) }
      : { id, sequence: key, location };
  });
}

describe.each([781_735, 832_918])('block %i of mainnet', (height) => {
  test('is applied with the events that ord sent, in their order', () => {
    const events = eventsOf(height);
    const [block, spent] = [sample('blocks', height), sample('spent', height)];
    const secret = new Uint8Array(32).fill(5);
    const parsed = parseBlock(block, { spent, fingerprintKey: secret });
    if (parsed.kind === 'broken') throw new Error(parsed.message);
    const columns = decodeBlockColumns(parsed.columns);
    const first = events.find(({ type }) => type === 'InscriptionCreated')!.sequence_number;
    const result = applyBlock({
      height: asHeight(height),
      network: networks.mainnet,
      columns,
      block,
      fingerprintKey: expandFingerprintKey(secret),
      hasSpent: true,
      anchored: true,
      counters: { nextKey: first, sequence: first, blessed: 0, cursed: 0, unbound: 0, lostSats: 0 },
      held: heldBefore(events, spentOutpoints(columns, block)),
    });
    const ids = new Map(events.map((event) => [event.sequence_number, event.inscription_id]));
    expect(ourEvents(result, columns, ids)).toEqual(
      events.map((event) => {
        const common = { id: event.inscription_id, sequence: event.sequence_number };
        return event.type === 'InscriptionCreated'
          ? { ...common, location: event.location, charms: event.charm_names }
          : { ...common, location: event.new_location };
      }),
    );
  });
});
