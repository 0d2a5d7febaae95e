import fc from 'fast-check';
import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { boundedText, idOf, pagingOf, sharedFilterOf } from '#http/parameters/list-parameters.ts';
import {
  blockQuestionOf,
  heightOf,
  inscriptionIdOf,
  inscriptionQuestionOf,
  outpointOf,
  placeFromEitherEnd,
  placeOf,
  runeNameOf,
  runeQuestionOf,
  satOf,
  satpointOf,
  txidOf,
} from '#http/parameters/path-parameters.ts';
import { searchFilterOf, searchFilterQuery } from '#http/search/search-parameters.ts';
import { hashOf } from '#http/search/validate-parameters.ts';
import { type AcceptedForm, acceptedForms, documentedSchema } from '#http/server/routes/accepted-form.ts';

/** Generates texts of a form. */
function textsOf({ pattern, enum: choices, ...bounds }: AcceptedForm): fc.Arbitrary<string> {
  if (typeof pattern === 'string') return fc.stringMatching(new RegExp(pattern, 'u'));
  if (Array.isArray(choices)) return fc.constantFrom(...(choices as string[]));
  return fc.string({ unit: 'grapheme', ...bounds }).filter((text) => Array.from(text).length <= 1000);
}

/** The form of the parameter `trait`. No other parameter has this form. */
const trait = (searchFilterQuery.trait as unknown as { readonly acceptedForm: AcceptedForm }).acceptedForm;

test.each<[string, AcceptedForm, (text: string) => unknown]>([
  ['a sha256', acceptedForms.hash, (text) => hashOf(text, 'hash')],
  ['a txid', acceptedForms.hash, txidOf],
  ['an inscription id of a path', acceptedForms.inscriptionId, inscriptionIdOf],
  ['an inscription id of a filter', acceptedForms.inscriptionId, (text) => idOf(text, 'parent')],
  ['an id or a number', acceptedForms.inscription, inscriptionQuestionOf],
  ['the name of a rune', acceptedForms.runeName, runeNameOf],
  ['a height', acceptedForms.count, heightOf],
  ['a place', acceptedForms.count, (text) => placeOf(text, 'page')],
  ['a height of a filter', acceptedForms.count, (text) => sharedFilterOf({ from: text, to: text })],
  ['a block', acceptedForms.block, blockQuestionOf],
  ['an outpoint', acceptedForms.outpoint, outpointOf],
  ['a satpoint', acceptedForms.satpoint, satpointOf],
  ['a sat', acceptedForms.sat, satOf],
  ['a rune', acceptedForms.rune, runeQuestionOf],
  ['a place from either end', acceptedForms.fromEitherEnd, placeFromEitherEnd],
  ['a limit', acceptedForms.limit, (text) => pagingOf({ limit: text }, 'asc')],
  ['an order', acceptedForms.order, (text) => pagingOf({ order: text }, 'asc')],
  ['a content type', acceptedForms.contentType, (text) => sharedFilterOf({ contentType: text })],
  ['a text', acceptedForms.text, (text) => boundedText(text, 'metaprotocol')],
  ['a trait', trait, (text) => searchFilterOf({ trait: text })],
])('the reader of %s accepts every text of the form in the document', (_name, form, read) => {
  fc.assert(
    fc.property(textsOf(form), (text) => {
      expect(() => read(text)).not.toThrow();
    }),
    { numRuns: 300 },
  );
});

test('the document has the forms in place of their keyword, also in fields and items', () => {
  const schema = Type.Object({
    id: Type.Optional(Type.String({ description: 'an id', acceptedForm: acceptedForms.hash })),
    all: Type.Array(Type.String({ acceptedForm: acceptedForms.order }), { maxItems: 3 }),
    more: Type.Boolean(),
  });
  expect(JSON.parse(JSON.stringify(documentedSchema(schema)))).toEqual({
    type: 'object',
    required: ['all', 'more'],
    properties: {
      id: { type: 'string', description: 'an id', ...acceptedForms.hash },
      all: { type: 'array', items: { type: 'string', enum: ['asc', 'desc'] }, maxItems: 3 },
      more: { type: 'boolean' },
    },
  });
});
