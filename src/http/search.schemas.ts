import { Type } from 'typebox';
import { limits } from './limits.ts';

const maxPage = 2 ** 31 - 1;
const maxItemsPerPage = 1_000;

// Unknown parameters are ignored: public clients send more than the interface names.
const paging = {
  page: Type.Integer({ minimum: 1, maximum: maxPage, default: 1 }),
  itemsPerPage: Type.Integer({ minimum: 1, maximum: maxItemsPerPage, default: 100 }),
};
const flag = Type.Optional(
  Type.Union([Type.Literal('0'), Type.Literal('1'), Type.Literal('false'), Type.Literal('true')]),
);

export const searchQuery = Type.Object({
  text: Type.Optional(Type.String()),
  hash: Type.Optional(Type.String()),
  query: Type.Optional(Type.String()),
  phrase: flag,
  pending: flag,
  ...paging,
});

export const metadataQuery = Type.Object({
  text: Type.Optional(Type.String()),
  phrase: flag,
  pending: flag,
  ...paging,
});

export const lookupQuery = Type.Object({ id: Type.Optional(Type.String()), pending: flag });

export const searchPath = Type.Object({ query: Type.String() });

// ours, so what it does not know is refused
export const hashesBody = Type.Object(
  { hashes: Type.Array(Type.String(), { maxItems: limits.hashes }) },
  { additionalProperties: false },
);

const nullableString = Type.Union([Type.String(), Type.Null()]);

const recordCore = {
  txid: Type.String(),
  inputindex: Type.String(),
  inscriptionid: Type.String(),
  blockheight: nullableString,
  contenttypestr: nullableString,
  contenthash: nullableString,
  contentlength: nullableString,
  createdat: Type.String(),
  pending: Type.Optional(Type.Literal('true')),
};
const textRecord = Type.Object({
  ...recordCore,
  inscriptionnumber: nullableString,
  contentstr: nullableString,
  metadatastr: nullableString,
});
const hashRecord = Type.Object(recordCore);
const firstRecord = Type.Object({ ...recordCore, inscriptionnumber: nullableString });
const lookupRecord = Type.Object({
  ...textRecord.properties,
  owner: nullableString,
  content: nullableString,
});

const envelope = {
  status: Type.Literal('ok'),
  count: Type.Integer(),
  currentPage: Type.Integer(),
  totalPages: Type.Integer(),
  totalItems: Type.Integer(),
  itemsPerPage: Type.Integer(),
};

export const textAnswer = Type.Object({ ...envelope, results: Type.Array(textRecord) });
export const hashAnswer = Type.Object({ ...envelope, results: Type.Array(hashRecord) });
export const lookupAnswer = Type.Object({ status: Type.Literal('ok'), results: Type.Array(lookupRecord) });
export const hashesAnswer = Type.Object({
  status: Type.Literal('ok'),
  count: Type.Integer(),
  newCount: Type.Integer(),
  results: Type.Array(
    Type.Object({
      hash: Type.String(),
      new: Type.Boolean(),
      first: Type.Union([firstRecord, Type.Null()]),
    }),
  ),
});
