import { Type } from 'typebox';
import { acceptedForms } from '#http/server/routes/accepted-form.ts';
import { wholeNumber } from './list-parameters.ts';

/**
 * The page of an HTML page, on a path with another answer for programs: they never had this parameter, so any value
 * passes.
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

/** Highest page: later pages have no rows, because a transaction has at most some hundred thousand parts. */
const pageMax = 1_000_000;

/** The number of a page. Throws `request_invalid`. */
export const pageNumberOf = (text: string | undefined): number =>
  wholeNumber(text, 'page', { least: 1, most: pageMax }) ?? 1;
