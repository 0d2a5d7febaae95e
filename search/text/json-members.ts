/**
 * A scalar of a JSON text, and the name of its member. Lists between the member and the scalar are ignored. `name`
 * null: there is no member.
 */
export interface Scalar {
  readonly name: string | null;
  /** A string without its quotes. Numbers and words exactly as in the text. */
  readonly text: string;
}

export interface JsonReader {
  name(name: string): void;
  scalar(scalar: Scalar): void;
}

/** Characters that end a number or a word. */
const wordEnd = /[,\]}\s]/gu;
const skipped = ': \t\n\r';

/**
 * Visits all members and scalars of a JSON text in order, including repeated names, which a JavaScript object would
 * lose. Returns false if the text ends early or breaks the grammar; the visits must then be ignored. The texts are our
 * own (docs/adr/0003), so this does not validate JSON. It reads every valid JSON correctly.
 */
export function readJsonMembers(json: string, reader: JsonReader): boolean {
  return new JsonMembers(json, reader).read();
}

class JsonMembers {
  readonly #json: string;
  readonly #reader: JsonReader;
  /** The enclosing objects and lists, each with its name. */
  readonly #open: { readonly isObject: boolean; readonly name: string | null }[] = [];
  #at = 0;
  #name: string | null = null;
  #isName = false;

  constructor(json: string, reader: JsonReader) {
    this.#json = json;
    this.#reader = reader;
  }

  read(): boolean {
    while (this.#at < this.#json.length) if (!this.#next()) return false;
    return this.#open.length === 0 && this.#json !== '';
  }

  #next(): boolean {
    const character = this.#json[this.#at] as string;
    switch (character) {
      case '"':
        return this.#string();
      case '{':
      case '[':
        this.#begin(character === '{');
        return true;
      case '}':
      case ']':
        return this.#end(character === '}');
      case ',':
        this.#isName = this.#open.at(-1)?.isObject === true;
        this.#at++;
        return true;
      default:
        if (skipped.includes(character)) this.#at++;
        else this.#word();
        return true;
    }
  }

  #begin(isObject: boolean): void {
    this.#open.push({ isObject, name: this.#name });
    this.#isName = isObject;
    this.#at++;
  }

  #end(isObject: boolean): boolean {
    const closed = this.#open.pop();
    if (closed?.isObject !== isObject) return false;
    this.#name = closed.name;
    this.#isName = false;
    this.#at++;
    return true;
  }

  #string(): boolean {
    const end = endOfString(this.#json, this.#at);
    const text = end === 0 ? null : stringOf(this.#json.slice(this.#at, end));
    if (text === null) return false;
    this.#at = end;
    if (this.#isName) {
      this.#reader.name(text);
      this.#name = text;
      this.#isName = false;
    } else this.#reader.scalar({ name: this.#name, text });
    return true;
  }

  #word(): void {
    wordEnd.lastIndex = this.#at;
    const end = wordEnd.exec(this.#json)?.index ?? this.#json.length;
    this.#reader.scalar({ name: this.#name, text: this.#json.slice(this.#at, end) });
    this.#at = end;
  }
}

/** The position after the closing quote of the string that begins at `at`. 0: the string is not closed. */
function endOfString(json: string, at: number): number {
  for (let end = json.indexOf('"', at + 1); end > 0; end = json.indexOf('"', end + 1)) {
    let escapes = 0;
    while (json[end - 1 - escapes] === '\\') escapes++;
    if (escapes % 2 === 0) return end + 1;
  }
  return 0;
}

function stringOf(quoted: string): string | null {
  if (!quoted.includes('\\')) return quoted.slice(1, -1);
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return null;
  }
}
