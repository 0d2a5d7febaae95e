import { Type } from 'typebox';
import { type AcceptedForm, acceptedForms } from '#http/server/routes/accepted-form.ts';
import { exampleId } from './list-parameters.ts';

/**
 * A path parameter. It is a text, so that the handler can parse it, and the handler's errors can show the form of an id
 * or an outpoint.
 */
const part = (description: string, example: string, acceptedForm: AcceptedForm) =>
  Type.String({ description, acceptedForm, examples: [example] });

export const pathParts = {
  id: part('an inscription id', exampleId, acceptedForms.inscriptionId),
  inscription: part('an inscription id or number', '0', acceptedForms.inscription),
  child: part('position of the child, from 0', '0', acceptedForms.count),
  page: part('page number, from 0', '0', acceptedForms.count),
  item: part('position of the item, from 0', '0', acceptedForms.count),
  block: part('a height or the hash of a block', '767430', acceptedForms.block),
  height: part('a height', '767430', acceptedForms.count),
  txid: part('64 hex digits', exampleId.slice(0, 64), acceptedForms.hash),
  outpoint: part('<txid>:<vout>', `${exampleId.slice(0, 64)}:0`, acceptedForms.outpoint),
  place: part('an index, from 0', '0', acceptedForms.count),
  sat: part('a sat by number, name, degree, decimal or percentile', 'nvtdijuwxlp', acceptedForms.sat),
  satNumber: part('the number of a sat', '45000000000', acceptedForms.count),
  satpoint: part('<txid>:<vout>:<offset>', `${exampleId.slice(0, 64)}:0:0`, acceptedForms.satpoint),
  rune: part(
    'a rune by name, with • or . as spacers or without, by id or number',
    'UNCOMMON.GOODS',
    acceptedForms.rune,
  ),
  index: part('an index from 0, or, if negative, from the end', '-1', acceptedForms.fromEitherEnd),
};
