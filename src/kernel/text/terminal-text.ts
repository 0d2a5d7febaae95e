/**
 * Characters that control a terminal, or that move or hide other characters. These are control characters (C0, DEL,
 * C1), direction marks (UAX 9), line separators, old format controls, annotations, and single surrogates. Joiners are
 * not included, because emoji and some scripts need joiners.
 */
const acting = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufff9-\ufffb\ud800-\udfff]/gu;
const actingInLines =
  /(?![\n\t])[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufff9-\ufffb\ud800-\udfff]/gu;

/** Prepares a stranger's text for one line of a terminal. Dangerous characters are written as JSON escapes. */
export const terminalText = (text: string): string => text.replace(acting, escaped);

/**
 * Prepares an output of several lines for a terminal. JSON output keeps its values, because only strings in JSON can
 * contain such characters.
 */
export const terminalLines = (text: string): string => text.replace(actingInLines, escaped);

/** JSON escape of a character. All escaped characters are below U+10000. */
const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
