import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MovingTxids } from '#indexer/ledger/inscriptions/moving-txids.ts';
import type { HeldInscriptions } from '#indexer/ledger/ledger-block.ts';
import { transactionId } from '#indexer/transaction/transaction-id.ts';
import { propertyBounds } from '#test/support/property-runs.ts';
import {
  blockOf,
  columnsOf,
  inscriptionScript,
  type TestInput,
  transaction,
} from '#test/unit/indexer/parse/synthetic-block.ts';

const envelope = inscriptionScript('text/plain', Buffer.from('a'));
/** An input: a script of any length, so that long transactions are hashed natively, and perhaps a witness. */
const input = fc.record({
  script: fc.integer({ min: 0, max: 700 }).map((length) => Buffer.alloc(length, length)),
  witness: fc.constantFrom<TestInput['witness']>(
    undefined,
    [Buffer.alloc(64, 3)],
    [envelope, Buffer.alloc(33, 4)],
  ),
  /** Number of inscriptions that the spent output holds. */
  held: fc.nat(2),
});

/** One inscription of an earlier block for each of these inputs. */
const heldBy = (inputs: readonly number[]): HeldInscriptions => ({
  count: inputs.length,
  input: Uint32Array.from(inputs),
  key: new Int32Array(inputs.length),
  satOffset: new Float64Array(inputs.length),
  id: new Uint8Array(inputs.length * 36),
  curse: new Uint8Array(inputs.length),
  height: new Int32Array(inputs.length),
  step: new Uint32Array(inputs.length),
});

test('has the txid of each transaction that spends inscriptions and reveals none, and no other', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(input, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 12 }),
      (transactions) => {
        const block = blockOf(
          transactions.map((inputs, tx) =>
            transaction(
              inputs.map(({ script, witness }, at) => ({
                outpoint: Buffer.alloc(36, 1 + tx * 4 + at),
                script,
                ...(witness === undefined ? {} : { witness }),
              })),
            ),
          ),
        );
        const columns = columnsOf(block);
        // the coinbase is the first input
        const inputs = transactions
          .flat()
          .flatMap(({ held }, at) => Array.from({ length: held }, () => at + 1));
        const txids = new MovingTxids(block, columns, heldBy(inputs));
        const reveals = new Set(columns.revealTx);
        for (const [at, spent] of transactions.entries()) {
          const tx = at + 1;
          const [start, end] = [columns.txStart[tx]!, columns.txStart[tx + 1]!];
          const moves = spent.some(({ held }) => held > 0) && !reveals.has(tx);
          const expected = moves ? transactionId(block, start, columns.txOutputs[tx]!, end) : null;
          const found = txids.of(tx);
          expect(found === null ? null : Buffer.from(found).toString('hex')).toBe(
            expected === null ? null : Buffer.from(expected).toString('hex'),
          );
        }
        // the coinbase comes last and was not hashed
        expect(txids.of(0)).toBeNull();
      },
    ),
    propertyBounds(200),
  );
});

test('refuses to answer after another block was hashed', () => {
  const ofSpend = (outpoint: number): MovingTxids => {
    const block = blockOf([transaction([{ outpoint: Buffer.alloc(36, outpoint), script: Buffer.alloc(0) }])]);
    return new MovingTxids(block, columnsOf(block), heldBy([1]));
  };
  const first = ofSpend(1);
  expect(first.of(1)).toHaveLength(32);
  const second = ofSpend(2);
  expect(() => first.of(1)).toThrow('no other block was hashed since');
  expect(second.of(1)).toHaveLength(32);
});
