import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { orderParts } from '#http/orders/order.routes.ts';
import { piecesOf } from '#http/server/budgets/json-in-turns.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { networks } from '#kernel/primitives/network.ts';
import { orderAnswer } from '#orders/customers/order-answer.ts';
import { readLeaves, readOrder, readOrderFiles } from '#orders/order/order.store.ts';
import { addressOf } from '#test/builders/regtest/regtest-transaction.ts';
import { createOrdersApp, type OrdersApp } from '#test/support/orders/orders-app.ts';

let http: OrdersApp;
beforeAll(async () => {
  http = await createOrdersApp();
});
afterAll(() => http.close());

test('the leaves of large files are stored in the order of their reveals', async () => {
  const contents = Array.from({ length: 4 }, () => randomBytes(380_000));
  const files = contents.map((content, index) => ({
    name: `${index}.png`,
    dataURL: `data:image/png;base64,${content.toString('base64')}`,
  }));
  const made = await http.post<{ id: string }>('/inscribe', { files, receiveAddress: addressOf(700) });
  const leaves = (await readLeaves(http.database.pool, made.body.id)).map((leaf) => Buffer.from(leaf));
  expect(
    leaves.map((leaf) => contents.findIndex((content) => leaf.includes(content.subarray(0, 500)))),
  ).toEqual([0, 1, 2, 3]);
  expect(leaves.every((leaf, index) => leaf.includes(contents[index]!.subarray(-100)))).toBe(true);
});

test('an order of 3,000 files is read whole, and written in turns of the event loop', async () => {
  const dataURL = 'data:text/plain;base64,YQ==';
  const files = Array.from({ length: 3000 }, (_, index) => ({ name: `${index}.txt`, dataURL }));
  const made = await http.post<{ id: string }>('/inscribe', { files, receiveAddress: addressOf(700) });
  const { id } = made.body;
  const answer = await http.app.inject({ url: `/order/${id}` });
  const { pool } = http.database;
  const order = await readOrder(pool, id);
  const stored = await withTransaction(pool, (tx) => readOrderFiles(tx, id));
  expect(stored.map(({ index }) => index)).toEqual(files.map((_, index) => index));
  const progress = {
    files: stored,
    transactions: [],
    mints: [],
    etched: null,
    payments: [],
    held: new Map(),
    parents: [],
    tokenOrder: null,
  };
  const whole = orderAnswer(order!, progress, networks.regtest, 'http://orders.test');
  expect(answer.json()).toEqual(JSON.parse(JSON.stringify(whole)));
  const pieces = [
    ...piecesOf(orderParts({ order: order!, ...progress }, networks.regtest, 'http://orders.test')),
  ];
  expect(pieces.join('')).toBe(answer.body);
  expect(pieces.length).toBeGreaterThan(2);
});
