import fc from 'fast-check';
import { expect, test } from 'vitest';
import { networks } from '#kernel/primitives/network.ts';
import type { Faulty } from '#kernel/requests/request-values.ts';
import { orderBounds } from '#orders/inscribing/order-terms.ts';
import { type DescribedOrder, type DescribeOptions, describeOrder } from '#orders/reading/describe-order.ts';
import { addressOf } from '#test/builders/regtest/regtest-transaction.ts';
import { propertyRuns } from '#test/support/property-runs.ts';
import { regtestSatributes } from '#test/support/regtest-satributes.ts';

const options: DescribeOptions = {
  network: networks.regtest,
  type: 'direct',
  nonStandard: false,
  purpose: 'order',
  satributes: regtestSatributes,
  urlProblem: () => null,
  timeoutMinutes: 60,
};
const describe = (body: object): DescribedOrder | Faulty => describeOrder(body, options);
/** The part of a body that the service stores and shows. */
function requestOf(body: object): object {
  const described = describe(body);
  if (described.kind === 'faulty') throw new Error(JSON.stringify(described.faults));
  return described.extras.request(546n, 1);
}

const id = `${'ab'.repeat(32)}i0`;
const address = addressOf(700);
const file = { name: 'a.txt', dataURL: 'data:text/plain;base64,YQ==' };
const delegate = {
  delegateId: id,
  metaprotocol: 'p',
  metadataUrl: 'https://example.com/m.json',
  metadataSize: '7',
};
const parent = { inscriptionId: id, returnAddress: address, value: '546' };
const order = { files: [file], delegates: [delegate], parents: [parent], receiveAddress: address, fee: '3' };
const known = new Set([
  ...Object.keys(order),
  ...Object.keys(delegate),
  ...Object.keys(parent),
  ...Object.keys(file),
]);

test('known fields of delegates and parents are shown as they were sent', () => {
  expect(requestOf(order)).toMatchObject({ delegates: [delegate], parents: [parent], fee: '3' });
  const contents = { dataURL: file.dataURL, metadataDataURL: 'data:application/json,{}' };
  expect(requestOf({ ...order, delegates: [{ ...delegate, ...contents }] })).toMatchObject({
    delegates: [delegate],
  });
});

test('nothing else of a body is kept', () => {
  const junk = fc.dictionary(
    fc
      .string()
      .filter(
        (name) =>
          !known.has(name) &&
          !/^(?:metadataDataURL|url|size|lowPostage|postage|batchMode|burnAfterInscribe|uncurseIt|additionalFee|referral|rareSats|compress|inscriptionIdPrefix|webhookUrl|refundAddress|timeout|projectTag|allowedSatributes)$/u.test(
            name,
          ),
      ),
    fc.oneof(fc.jsonValue(), fc.uint8Array()),
  );
  fc.assert(
    fc.property(junk, junk, junk, junk, (one, two, three, four) => {
      const body = {
        ...one,
        ...order,
        files: [{ ...two, ...file }],
        delegates: [{ ...three, ...delegate }],
        parents: [{ ...four, ...parent }],
      };
      expect(requestOf(body)).toEqual(requestOf(order));
    }),
    { numRuns: propertyRuns(100) },
  );
});

test('a field that another one replaces is not kept, however long it is', () => {
  const metadataUrl = new Uint8Array(1_000_000).fill(0x61);
  const given = { delegateId: id, metadataDataURL: 'data:application/json,{}' };
  for (const value of [metadataUrl, { deep: metadataUrl }, [metadataUrl], true])
    expect(requestOf({ ...order, delegates: [{ ...given, metadataUrl: value }] })).toMatchObject({
      delegates: [{ delegateId: id }],
    });
  const shown = requestOf({ ...order, delegates: [{ ...given, metadataUrl }] });
  expect(JSON.stringify(shown).length).toBeLessThan(1_000);
});

test('too long lists are refused by their length, before an item is read', () => {
  const many = (item: unknown, count: number): unknown[] => Array.from({ length: count }, () => item);
  const long: readonly (readonly [object, string])[] = [
    [
      { ...order, parents: many(parent, orderBounds.parents + 1) },
      'An order has at most 100 parents, but this order has 101.',
    ],
    [
      { ...order, receiveAddress: many(address, orderBounds.files + 1) },
      'receiveAddress has 10001 addresses, but an order has at most 10000 files and delegates.',
    ],
    [
      { ...order, burnAfterInscribe: true, receiveAddress: many(address, 1_000_000) },
      'receiveAddress has 1000000 addresses, but an order has at most 10000 files and delegates.',
    ],
    [
      { ...order, delegates: many(delegate, 1_000_000) },
      'files and delegates are 1000001, but an order has at most 10000',
    ],
  ];
  for (const [body, message] of long) {
    const startedMs = performance.now();
    const described = describe(body);
    expect(performance.now() - startedMs).toBeLessThan(500);
    expect(described.kind === 'faulty' && described.faults.map((fault) => fault.message)).toEqual([message]);
  }
});
