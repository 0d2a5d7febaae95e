import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { limits } from '#http/server/limits.ts';
import { networks } from '#kernel/primitives/network.ts';
import { fetchContents, fetchedWithinMs } from '#orders/creating/fetch-contents.ts';
import { CustomerFiles } from '#orders/files/customer-files.ts';
import { NamedFiles } from '#orders/files/own-files.ts';
import { readOrderRequest } from '#orders/reading/read-order.ts';
import { OutgoingHttp } from '#outgoing/outgoing-http.ts';
import { addressOf } from '#test/builders/regtest/regtest-transaction.ts';

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0)) await close();
});

/** Files at URLs of a server that answers like this. */
async function filesAt(answer: RequestListener, count: number) {
  const server = createServer(answer);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const outgoing = new OutgoingHttp({ allowPrivate: true });
  opened.push(
    () => outgoing.close(),
    () => {
      server.closeAllConnections();
      server.close();
    },
  );
  const { port } = server.address() as AddressInfo;
  const files = Array.from({ length: count }, (_, index) => ({
    name: `${index}.txt`,
    url: `http://127.0.0.1:${port}/${index}`,
  }));
  const body = { files, receiveAddress: addressOf(700) };
  const read = readOrderRequest(body, {
    network: networks.regtest,
    type: 'direct',
    nonStandard: false,
    purpose: 'order',
  });
  if (read.kind === 'faulty') throw new Error(JSON.stringify(read.faults));
  return { outgoing, files: read.files };
}

const noneOfOurs = new NamedFiles(new CustomerFiles('nowhere'), new Map());
const neverAborted = new AbortController().signal;

test('files are fetched from the URLs that their servers redirect to', async () => {
  const { outgoing, files } = await filesAt((request, response) => {
    if (request.url?.startsWith('/moved') === true) response.end(`of ${request.url}`);
    else response.writeHead(301, { location: `/moved${request.url}` }).end();
  }, 20);
  const { bodies, faults } = await fetchContents(outgoing, noneOfOurs, files, neverAborted);
  expect(faults).toEqual([]);
  expect([...bodies].toSorted(([a], [b]) => a - b).map(([, body]) => Buffer.from(body).toString())).toEqual(
    files.map((_, index) => `of /moved/${index}`),
  );
});

test('an order is refused in one sentence if not all of its files arrive in time', async () => {
  let asked = 0;
  const { outgoing, files } = await filesAt(() => void asked++, 100);
  const { faults } = await fetchContents(outgoing, noneOfOurs, files, neverAborted, 1_000);
  expect(faults).toEqual([
    {
      parameter: 'files',
      message: 'files were not all fetched within 1 seconds; send them as dataURL, or in several orders',
    },
  ]);
  expect(asked).toBeLessThanOrEqual(8);
});

test('a client that waits for slow servers gets the reason before its silent connection is closed', async () => {
  // there is time left for the other steps of the order
  expect(fetchedWithinMs).toBeLessThanOrEqual(limits.idleTimeoutMs - 10_000);
  const drips: RequestListener = (_, response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write('x'), 50);
    response.on('close', () => clearInterval(timer));
  };
  const { outgoing, files } = await filesAt(drips, 8);
  // the servers never end their answers
  const { faults } = await fetchContents(outgoing, noneOfOurs, files, new AbortController().signal, 500);
  expect(faults.map(({ message }) => message)).toEqual([
    'files were not all fetched within 0.5 seconds; send them as dataURL, or in several orders',
  ]);
});

test('nothing more is fetched for a disconnected client', async () => {
  const gone = new AbortController();
  let asked = 0;
  const { outgoing, files } = await filesAt(() => {
    asked++;
    gone.abort(new Error('gone'));
  }, 100);
  await expect(fetchContents(outgoing, noneOfOurs, files, gone.signal)).rejects.toThrow('gone');
  expect(asked).toBeLessThanOrEqual(8);
});
