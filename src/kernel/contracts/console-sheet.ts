/** A link to another page of the console. */
export interface ConsoleLink {
  readonly words: string;
  readonly href: string;
}

/** A value of a table or of a list of facts. Texts may be a stranger's: pages show them as text. Null: unknown. */
export type ConsoleCell = string | number | Date | ConsoleLink | null;

/** A value that a form asks for. */
export interface ConsoleInput {
  readonly name: string;
  readonly label: string;
  readonly maxLength: number;
  readonly isRequired: boolean;
}

export type ConsolePart =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'heading'; readonly words: string }
  | {
      readonly kind: 'facts';
      readonly facts: readonly (readonly [name: string, value: ConsoleCell])[];
    }
  | {
      readonly kind: 'table';
      /** Name of the table for programs that read pages aloud. */
      readonly label: string;
      readonly columns: readonly string[];
      readonly rows: readonly (readonly ConsoleCell[])[];
      /** Words in place of a table without rows. */
      readonly empty: string;
    }
  /** Links to other selections of the same list. */
  | {
      readonly kind: 'choices';
      readonly label: string;
      readonly choices: readonly (ConsoleLink & { readonly isCurrent: boolean })[];
    }
  /** A button that sends values with the token of the session. */
  | {
      readonly kind: 'form';
      readonly action: string;
      readonly button: string;
      readonly fields: Readonly<Record<string, string>>;
    }
  /** A form without a token that leads to a page with these values, and changes nothing. */
  | {
      readonly kind: 'ask';
      readonly action: string;
      readonly button: string;
      readonly fields: Readonly<Record<string, string>>;
      /** Values that are typed, with their present texts. */
      readonly inputs: readonly (ConsoleInput & { readonly value: string })[];
    }
  /** A form that asks for the key of the operator, and sends it with values and the token of the session. */
  | {
      readonly kind: 'confirm';
      readonly action: string;
      readonly button: string;
      readonly fields: Readonly<Record<string, string>>;
    }
  /** Links to further pages, as buttons. */
  | { readonly kind: 'actions'; readonly actions: readonly ConsoleLink[] }
  /** Neighbouring pages of a list. Null: there is no such page. */
  | { readonly kind: 'pager'; readonly previous: string | null; readonly next: string | null };

/** A page of the console as data. */
export interface ConsoleSheet {
  readonly title: string;
  readonly parts: readonly ConsolePart[];
}
