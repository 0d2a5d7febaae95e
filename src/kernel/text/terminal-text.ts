/**
 * Characters that control a terminal, or that move or hide their neighbours: controls (C0, DEL, C1), marks of direction
 * (UAX 9), separators of lines, old format controls, annotations, and halves of pairs. Joiners are not among them:
 * emoji and scripts need these.
 */
const acting = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufff9-\ufffb\ud800-\udfff]/gu;
const actingInLines =
  /(?![\n\t])[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufff9-\ufffb\ud800-\udfff]/gu;

/** A stranger's text for one line of a terminal: control characters are written as JSON escapes. */
export const terminalText = (text: string): string => text.replace(acting, escaped);

/**
 * Output of several lines for a terminal. JSON stays JSON with the same values: only its texts can have such
 * characters.
 */
export const terminalLines = (text: string): string => text.replace(actingInLines, escaped);

/** JSON escape of a character; all of them are below U+10000. */
const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
