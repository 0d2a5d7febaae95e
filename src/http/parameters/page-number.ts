import { Type } from 'typebox';
import { acceptedForms } from '#http/server/routes/accepted-form.ts';
import { wholeNumber } from './list-parameters.ts';

/** The page of an HTML page, where programs get another answer: they never had such a parameter, and any value passes. */
export const pageQuery = Type.Object({
  page: Type.Optional(
    Type.String({
      description: 'page number of the HTML page',
      acceptedForm: acceptedForms.count,
      examples: ['1'],
    }),
  ),
});

/** Pages beyond it have no rows: a transaction has at most some hundred thousand parts. */
const pageMax = 1_000_000;

/** Throws `request_invalid`. */
export const pageNumberOf = (text: string | undefined): number =>
  wholeNumber(text, 'page', { least: 1, most: pageMax }) ?? 1;
