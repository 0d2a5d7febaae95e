import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addressOf } from '#test/builders/regtest/regtest-transaction.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { OrderService, type OrderShown } from '#test/support/orders/order-service.ts';

interface Told {
  readonly url: string | undefined;
  readonly sequence: string | string[] | undefined;
  readonly body: Readonly<Record<string, unknown>>;
}

describe.skipIf(bitcoindForTests() === null)('a receiver of webhooks', () => {
  let service: OrderService;
  let receiver: Server;
  const told: Told[] = [];
  beforeAll(async () => {
    receiver = createServer((request, response) => {
      let text = '';
      request.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      request.on('end', () => {
        const body = JSON.parse(text) as Told['body'];
        told.push({ url: request.url, sequence: request.headers['x-satscribe-sequence'], body });
        response.end();
      });
    });
    await new Promise<void>((resolve) => {
      receiver.listen(0, '127.0.0.1', resolve);
    });
    service = await OrderService.start();
  });
  afterAll(async () => {
    await service?.close();
    receiver?.close();
  });

  test('gets each state in order, and each file by itself, at the exact URL', async () => {
    const { port } = receiver.address() as AddressInfo;
    const files = ['one', 'two'].map((text) => ({
      name: `${text}.txt`,
      size: 3,
      dataURL: `data:text/plain;base64,${Buffer.from(text).toString('base64')}`,
    }));
    const answer = await service.post('/inscribe', {
      files,
      receiveAddress: addressOf(77),
      fee: 2,
      webhookUrl: `http://127.0.0.1:${port}/orders?token=abc%20d`,
    });
    const { id, charge } = (await answer.json()) as OrderShown;
    const { address } = (await service.order(id)).charge;
    await service.chain.payAddress(address, charge.amount);
    await service.eventually(async () => (await service.order(id)).state === 'waiting-confirmation');
    await service.chain.mineMempool();
    await service.eventually(async () => {
      const { files: shown } = await service.order(id);
      return shown.every(({ inscriptionId }) => inscriptionId !== undefined);
    });
    await service.chain.mineMempool();
    await service.eventually(async () => told.some(({ body }) => body['state'] === 'completed'));
    const { files: shown } = await service.order(id);
    expect(told.map(({ body }) => body['state'] ?? `file ${String(body['index'])}`)).toEqual([
      'waiting-confirmation',
      'prep',
      'queued',
      'file 0',
      'file 1',
      'completed',
    ]);
    expect(told.map(({ sequence }) => sequence)).toEqual(['1', '2', '3', '4', '5', '6']);
    expect(new Set(told.map(({ url }) => url))).toEqual(new Set(['/orders?token=abc%20d']));
    for (const { body } of told) expect(body['id']).toBe(id);
    const states = told.filter(({ body }) => 'state' in body);
    for (const { body } of states)
      expect(Object.keys(body).toSorted((a, b) => a.localeCompare(b))).toEqual(['id', 'state']);
    expect(told[3]!.body).toMatchObject({
      index: 0,
      file: { name: 'one.txt', iqueued: true },
      tx: { parent: null, inscription: shown[0]!.inscriptionId },
    });
  });
});
