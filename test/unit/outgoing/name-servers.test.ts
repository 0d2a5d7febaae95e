import { createSocket, type Socket } from 'node:dgram';
import type { LookupAddress } from 'node:dns';
import { afterEach, expect, test } from 'vitest';
import { nameServers } from '#outgoing/name-servers.ts';

const [typeA, typeAaaa] = [1, 28];
const opened: Socket[] = [];

afterEach(() => {
  for (const socket of opened.splice(0)) socket.close();
});

/** A name server that has these addresses for every name, by type. It has no records of other types. */
async function serverWith(addresses: Readonly<Record<number, Uint8Array>>): Promise<string> {
  const socket = createSocket('udp4');
  opened.push(socket);
  socket.on('message', (question, { port, address }) => {
    const end = question.indexOf(0, 12) + 5;
    const type = question.readUInt16BE(end - 4);
    const found = addresses[type];
    const head = Buffer.from(question.subarray(0, 12));
    head.writeUInt16BE(0x8180, 2);
    head.writeUInt16BE(found === undefined ? 0 : 1, 6);
    head.writeUInt32BE(0, 8);
    const answer =
      found === undefined
        ? []
        : [Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, found.length]), found];
    socket.send(Buffer.concat([head, question.subarray(12, end), ...answer]), port, address);
  });
  await new Promise<void>((resolve) => {
    socket.bind(0, '127.0.0.1', resolve);
  });
  return `127.0.0.1:${socket.address().port}`;
}

const ask = (server: string, name: string): Promise<LookupAddress[]> =>
  new Promise((resolve, reject) => {
    nameServers([server])(name, { all: true }, (error, found) => {
      if (error === null) resolve(found);
      else reject(error);
    });
  });

const one = Uint8Array.of(1, 2, 3, 4);
const other = Uint8Array.of(0x26, ...Array.from({ length: 14 }, () => 0), 1);

test('a name has the addresses of both families, those of IPv4 first', async () => {
  const server = await serverWith({ [typeAaaa]: other, [typeA]: one });
  expect(await ask(server, 'both.example')).toEqual([
    { address: '1.2.3.4', family: 4 },
    { address: '2600::1', family: 6 },
  ]);
});

test('one family is enough', async () => {
  expect(await ask(await serverWith({ [typeAaaa]: other }), 'six.example')).toEqual([
    { address: '2600::1', family: 6 },
  ]);
});

test('a name without addresses is an error', async () => {
  await expect(ask(await serverWith({}), 'none.example')).rejects.toMatchObject({ code: 'ENODATA' });
});
