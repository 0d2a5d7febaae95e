import { expect, test } from 'vitest';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { asBlockHashHex, asTxid } from '#kernel/primitives/hash.ts';
import { previousTransactions } from '#psbts/bytes/previous-transactions.ts';
import type { PsbtInput } from '#psbts/planning/psbt-plan.ts';
import { type RegtestTransaction, transaction } from '#test/builders/regtest/regtest-transaction.ts';
import { customerAddress, type PaymentType, signerOf } from '#test/support/psbts/customer-address.ts';

const block = asBlockHashHex('0b'.repeat(32));

/** Makes a transaction with many outputs, as a node returns it, with its witness. */
const made = (outputs: number, vout = 0): RegtestTransaction =>
  transaction(
    [{ txid: 'ab'.repeat(32), vout, value: 1_000_000_000, owner: 3 }],
    Array.from({ length: outputs }, () => ({ value: 1_000 })),
  );

/** A node that has some transactions. For all others it answers like a pruned node. */
function nodeWith(...known: readonly RegtestTransaction[]): NodeRpc & { readonly asked: unknown[][] } {
  const asked: unknown[][] = [];
  return {
    url: 'http://node.test',
    asked,
    call: async <Result>(_: string, parameters: readonly unknown[] = []) => {
      asked.push([...parameters]);
      const found = known.find(({ txid }) => txid === parameters[0]);
      if (found === undefined) throw new AppError('node_call_failed', 'Block not available (pruned data)');
      return found.hex as Result;
    },
  };
}

const inputOf = ({ txid }: RegtestTransaction, type: PaymentType, vout = 0): PsbtInput => ({
  txid: asTxid(Buffer.from(txid, 'hex').reverse()),
  vout,
  value: 1_000n,
  signer: signerOf(customerAddress(80, type)),
  blockHash: block,
});

test('each input but taproot has the transaction that it spends, without its witness, asked for once', async () => {
  const one = made(3);
  const node = nodeWith(one);
  const inputs = [
    inputOf(one, 'p2tr'),
    inputOf(one, 'p2pkh', 1),
    inputOf(one, 'p2wpkh', 2),
    inputOf(one, 'p2sh-p2wpkh'),
  ];
  const { byInput, warnings } = await previousTransactions(node, inputs);
  expect([...byInput.keys()]).toEqual([1, 2, 3]);
  // without the marker, the flag, and a witness of one signature
  const length = one.hex.length / 2 - 2 - 66;
  for (const bytes of byInput.values()) expect(bytes).toHaveLength(length);
  expect(warnings).toEqual([]);
  expect(node.asked).toEqual([
    [one.txid, false, block],
    [one.txid, false, block],
  ]);
});

test('an unconfirmed one is requested without a block', async () => {
  const one = made(1);
  const node = nodeWith(one);
  await previousTransactions(node, [{ ...inputOf(one, 'p2wpkh'), blockHash: null }]);
  expect(node.asked).toEqual([[one.txid, false]]);
});

test('segwit inputs do without if the node does not have all of them', async () => {
  const [one, other] = [made(1), made(2)];
  const { byInput, warnings } = await previousTransactions(nodeWith(one), [
    inputOf(one, 'p2wpkh'),
    inputOf(other, 'p2wpkh'),
  ]);
  expect(byInput.size).toBe(0);
  expect(warnings).toEqual([
    'The PSBT lacks previous transactions of its segwit inputs, so some hardware wallets may refuse to sign it.',
  ]);
});

test('segwit inputs do without if their copies would be too large', async () => {
  const large = made(2_500);
  const inputs = Array.from({ length: 5 }, (_, vout) => inputOf(large, 'p2wpkh', vout));
  expect((await previousTransactions(nodeWith(large), inputs.slice(0, 2))).byInput.size).toBe(2);
  expect((await previousTransactions(nodeWith(large), inputs)).byInput.size).toBe(0);
});

test('P2PKH inputs are refused without them', async () => {
  const one = made(1);
  await expect(previousTransactions(nodeWith(), [inputOf(one, 'p2pkh')])).rejects.toMatchObject({
    code: 'previous_transaction_missing',
  });
  const large = made(2_500);
  const many = Array.from({ length: 101 }, (_, vout) => inputOf(large, 'p2pkh', vout));
  await expect(previousTransactions(nodeWith(large), many)).rejects.toMatchObject({
    code: 'request_invalid',
    message: expect.stringContaining('needs 101 P2PKH inputs') as string,
  });
  await expect(previousTransactions(nodeWith(large), many.slice(1))).rejects.toMatchObject({
    code: 'request_invalid',
    message: expect.stringMatching(/have \d+ bytes in total/u) as string,
  });
});

test('a node that gives another transaction is not believed', async () => {
  const [one, other] = [made(1), made(2)];
  const node: NodeRpc = { url: 'http://node.test', call: async <Result>() => other.hex as Result };
  await expect(previousTransactions(node, [inputOf(one, 'p2pkh')])).rejects.toMatchObject({
    code: 'node_answer_invalid',
  });
});
