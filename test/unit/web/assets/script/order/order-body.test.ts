import { expect, test } from 'vitest';
import {
  base64Of,
  type Fields,
  fieldProblems,
  inscriptionIdsIn,
  orderBody,
} from '#web/assets/script/order/order-body.js';

const fields: Fields = {
  type: 'direct',
  receiveAddress: '',
  fee: ' 3 ',
  refundAddress: '',
  postage: '',
  parentId: '',
  parentValue: '',
  parentReturn: '',
  allowedSatributes: '',
  rareSats: '',
  metadata: '',
  metaprotocol: '',
  inscriptionIdPrefix: '',
  timeout: '',
  burn: false,
  uncurse: false,
  compress: false,
  shared: false,
};
const id = `${'ab'.repeat(32)}i0`;
const file = { kind: 'file', name: 'a.txt', size: 2, blob: new Blob(['gm']) } as const;
const bodyOf = (more: Partial<Fields>) =>
  orderBody([file, { kind: 'delegate', id }], { ...fields, ...more }, ({ size }) => ({ size }));

test('empty fields are left out', () => {
  expect(bodyOf({})).toEqual({
    files: [{ name: 'a.txt', size: 2 }],
    delegates: [{ delegateId: id }],
    fee: '3',
  });
});

test('each option becomes the field of an order', () => {
  const body = bodyOf({
    receiveAddress: 'bcrt1a\nbcrt1b\n',
    allowedSatributes: 'uncommon, black',
    parentId: id,
    parentValue: '10000',
    parentReturn: 'bcrt1home',
    metadata: '{"name": "ü"}',
    uncurse: true,
    compress: true,
    shared: true,
  });
  expect(body).toMatchObject({
    receiveAddress: ['bcrt1a', 'bcrt1b'],
    allowedSatributes: ['uncommon', 'black'],
    parents: [{ inscriptionId: id, value: '10000', returnAddress: 'bcrt1home' }],
    uncurseIt: true,
    compress: true,
    batchMode: 'shared-output',
  });
  const [{ metadataDataURL } = { metadataDataURL: '' }] = (body as { files: { metadataDataURL: string }[] })
    .files;
  expect(Buffer.from(metadataDataURL.split(',')[1]!, 'base64').toString()).toBe('{"name": "ü"}');
  expect(bodyOf({ burn: true, receiveAddress: 'bcrt1a' })).not.toHaveProperty('receiveAddress');
});

test('problems are listed by their fields, before the service is asked', () => {
  const problems = fieldProblems(
    { ...fields, receiveAddress: 'bc1qexample', fee: 'fast', parentId: 'no id', metadata: '{' },
    'regtest',
  );
  expect([...problems.keys()].toSorted()).toEqual(['fee', 'metadata', 'parentId', 'receiveAddress']);
  expect(problems.get('receiveAddress')).toBe(
    'This is an address of mainnet, but this service is on regtest.',
  );
  expect(fieldProblems(fields, 'regtest').size).toBe(0);
});

test('any number of bytes becomes base64', () => {
  const bytes = Uint8Array.from({ length: 100_000 }, (_, index) => index % 251);
  expect(base64Of(bytes)).toBe(Buffer.from(bytes).toString('base64'));
});

test('ids are found in lines, lists and addresses of pages', () => {
  expect(inscriptionIdsIn(`${id}, nothing\nhttps://example.com/inscription/${id.toUpperCase()}`)).toEqual({
    ids: [id, id],
    others: ['nothing'],
  });
});
