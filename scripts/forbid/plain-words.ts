/**
 * A word that makes a reader stop, with the plain word to use and a reason. This file contains only data; plain-text.ts
 * searches for the words.
 */
export interface BannedWord {
  /**
   * A regular expression for complete words, in any case. Each blank matches any gap, even across lines of a comment.
   */
  readonly pattern: string;
  /** The plain word to use. */
  readonly use: string;
  readonly why: string;
  /** Whether the word is also banned as a part of a camelCase name. Only for single words. */
  readonly inNames?: true;
}

/**
 * Objects after which "behind" is plain English: a proxy that is in front of something, or a chain that is ahead of
 * something.
 */
const behindInPlace =
  '(?:reverse |load |same |unix |http |tls )*(?:proxy|proxies|balancer|cdn|firewall|socket|port|source|index|chain|tip|node|others?)';

export const bannedWords: readonly BannedWord[] = [
  {
    pattern: 'anew',
    use: 'again; "rebuild" for "make anew"',
    why: 'an old word for a common one',
    inNames: true,
  },
  { pattern: 'lately', use: 'recently', why: 'one term for one thing', inNames: true },
  {
    pattern: 'whoever',
    use: 'the noun: the client, the payer, anyone who …',
    why: 'the reader looks for who it is',
    inNames: true,
  },
  {
    pattern: 'nobody',
    use: 'unknown, null or missing for a value; "no one" for people',
    why: 'most values have no owner to speak of',
    inNames: true,
  },
  {
    pattern: `behind (?:it|its|them|their|this|that|these|those|each|every|one|all|another|(?:the|an?|our|your|his|two) (?!${behindInPlace}\\b)\\w+)`,
    use: 'after',
    why: 'order has before and after; only places have a behind',
  },
  { pattern: 'but for', use: 'except', why: 'it reads as "but, for …"' },
  {
    pattern: 'so (?:much|many)(?!(?: [\\w-]+){0,4} that\\b)(?! as\\b)',
    use: 'the quantity: "the fee", "how many outputs"',
    why: 'a bare quantity makes the reader look back for the number',
  },
  { pattern: 'so manieth', use: 'nth', why: 'not an English word' },
  {
    pattern: 'of which one',
    use: 'one of which',
    why: 'the reader takes "which one" together',
  },
  {
    pattern: '(?<!\\bthere )(?:is|are|was|were) none',
    use: '"is not an X", "there is no X"',
    why: 'none of what? The noun is elsewhere',
  },
  {
    pattern: 'of no(?! (?:more|less|use|interest|concern)\\b)',
    use: 'without a, "not of any"',
    why: 'a negated genitive is read twice',
  },
  {
    pattern: '(?:be|is|are|was|were) had',
    use: 'is available',
    why: '"have" has no passive in plain English',
  },
  {
    pattern: '(?:go|goes|going|gone|went) home',
    use: 'return',
    why: 'data does not go home: a parent returns',
  },
  {
    pattern: '(?:bring|brings|bringing|brought) on',
    use: 'process, advance, cause',
    why: 'a phrasal verb with three meanings',
  },
  {
    pattern: 'told of',
    use: 'receives, learns, is notified of',
    why: 'it hides who tells and what is passed',
  },
  { pattern: 'com(?:e|es|ing) to an end', use: 'end', why: 'four words for one' },
  {
    pattern: '(?:go|goes|going|gone|went) on(?! (?:the|a|an|its|one|top)\\b)',
    use: 'resume after a stop, else continue',
    why: 'one term for one thing',
  },
  {
    pattern: '(?:pay|pays|paying|paid) back',
    use: 'refund',
    why: 'one term for one thing; the states and the API say refund',
  },
  {
    pattern: 'lies?(?! (?:to|about)\\b)',
    use: 'is, is in, is at',
    why: 'data has plain verbs; a node that sends wrong answers "lies to" us',
  },
  {
    pattern: 'stands?(?!-| (?:by|for|in for|out|still)\\b)',
    use: 'is, is in, is after',
    why: 'data has plain verbs',
  },
];

/** A text in one file that may contain a banned word, because the word is a fact there. */
export interface AllowedText {
  readonly path: string;
  /** The exact text. Elsewhere in the file, the same word is an offence. */
  readonly text: string;
  readonly why: string;
}

const accountName = 'the name of an account that every system has';

export const allowedTexts: readonly AllowedText[] = [
  {
    path: 'src/embedded-postgres/server-account.ts',
    text: "const lastResort = 'nobody';",
    why: accountName,
  },
];

export interface BannedStart {
  /** The first words of a doc comment. */
  readonly start: string;
  readonly use: string;
}

const nounFirst = 'start with the noun that it is, or with a verb';

/**
 * Banned starts of doc comments. A start should say what the thing is or does, so that a reader who wants another thing
 * can stop there.
 */
export const bannedStarts: readonly BannedStart[] = [
  { start: 'Of', use: nounFirst },
  { start: 'As', use: nounFirst },
  { start: 'Those', use: 'name them: "Outputs that …"' },
  { start: 'With', use: nounFirst },
  { start: 'By', use: '"Keyed by …", or the noun' },
  { start: 'What', use: 'name it: "Rows that …", or a verb' },
  { start: 'That which', use: 'name it: "The part that …"' },
  { start: 'Where', use: '"Place of …", or the noun' },
  { start: 'When', use: '"Time of …", or the noun' },
  { start: 'If', use: 'the thing first, its condition after it' },
];
