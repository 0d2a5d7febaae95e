import { Type } from 'typebox';
import { acceptedForms } from '#http/server/routes/accepted-form.ts';
import { wholeNumber } from './list-parameters.ts';

/**
 * The page number of an HTML page. Programs get another answer from the same path. Any value is accepted, because
 * programs never had this parameter.
 */
export const pageQuery = Type.Object({
  page: Type.Optional(
    Type.String({
      description: 'page number of the HTML page',
      acceptedForm: acceptedForms.count,
      examples: ['1'],
    }),
  ),
});

/**
 * Highest page number. Pages after this number would be empty, because a transaction has at most some hundred thousand
 * inputs and outputs.
 */
const pageMax = 1_000_000;

/** The number of a page. Throws `request_invalid`. */
export const pageNumberOf = (text: string | undefined): number =>
  wholeNumber(text, 'page', { least: 1, most: pageMax }) ?? 1;
