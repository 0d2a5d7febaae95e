import { readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import { RawTx } from '@scure/btc-signer';
import { describe, expect, test } from 'vitest';
import { classifiedBlock, marketBlock } from '#test/support/sales/classified-block.ts';
import type { MarketTransaction } from '#test/support/sales/market-coins.ts';
import { scanMoves } from '#test/support/sales/sale-scanner.ts';

interface Stored {
  readonly txid: string;
  readonly hex: string;
  readonly spent: readonly { readonly value: number; readonly script: string }[];
}

/** A real transaction. The test assumes that one of its inputs has an inscription on the first sat. */
type Moved = MarketTransaction & { readonly txid: string; readonly input: number };

/** Fields that the library decodes but that its types do not contain. */
interface Decoded {
  readonly inputs: readonly { readonly finalScriptSig: Uint8Array }[];
  readonly outputs: readonly { readonly amount: bigint; readonly script: Uint8Array }[];
  readonly witnesses?: readonly (readonly Uint8Array[])[];
}

function movesOf({ txid, hex, spent }: Stored): Moved[] {
  const { inputs, outputs, witnesses = [] } = RawTx.decode(Buffer.from(hex, 'hex')) as Decoded;
  return spent.map((_, input) => ({
    kind: 'mainnet',
    txid,
    input,
    inputs: inputs.map(({ finalScriptSig }, at) => ({
      scriptSig: finalScriptSig,
      witness: witnesses[at] ?? [],
      spent: { value: spent[at]!.value, script: Buffer.from(spent[at]!.script, 'hex') },
      items: at === input ? [0] : [],
    })),
    outputs: outputs.map(({ amount, script }) => ({ value: Number(amount), script })),
    labels: [],
  }));
}

const stored = brotliDecompressSync(
  readFileSync(new URL('../../../../fixtures/sales/mainnet-transactions.ndjson.br', import.meta.url)),
)
  .toString()
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line) as Stored);
const moves = stored.flatMap(movesOf);

describe('the moves of real transactions, one input at a time', () => {
  const classified = classifiedBlock(marketBlock(moves));

  test('are classes in which the index and an independent scanner agree', () => {
    const differences = moves.flatMap((tx, place) => {
      const said = classified.get(place + 1)?.map((move) => move.class) ?? ['passed over'];
      const scanned = scanMoves(tx).map((label) => label.class);
      const isSame = said[0] === 'passed over' ? !scanned.some(isSold) : said.join() === scanned.join();
      return isSame ? [] : [{ txid: tx.txid, input: tx.input, said, scanned }];
    });
    expect(differences).toEqual([]);
    expect(moves.length).toBeGreaterThan(100);
  });

  // reveals, mints of runes and stamps have no buyer
  test('are not sales', () => {
    const sold = moves.filter((_, place) =>
      (classified.get(place + 1) ?? []).some((move) => isSold(move.class)),
    );
    expect(sold.map(({ txid, input }) => `${txid} ${input}`)).toEqual([]);
  });
});

const isSold = (of: string): boolean => of === 'sale' || of === 'offer';
