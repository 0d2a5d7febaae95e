import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';

export interface ShownAsset {
  readonly asset: string;
  readonly token: string;
  readonly liabilities: string;
  readonly debts: string;
  readonly fees: string;
  readonly aside: string;
  readonly waiting: string;
  readonly held: string;
  readonly difference: string;
  readonly liabilitiesRoot: string | null;
}

export interface ShownReserves {
  readonly block: { readonly height: number; readonly hash: string };
  readonly assets: readonly ShownAsset[];
  readonly outputs: { readonly count: number; readonly pages: number; readonly sha256: string };
}

export interface ShownPage {
  readonly document: string;
  readonly message: string;
  readonly outputs: readonly {
    readonly output: string;
    readonly address: string;
    readonly sats: number;
    readonly outcome: string;
    readonly runes: readonly { readonly asset: string; readonly amount: string }[];
    readonly proof: string;
  }[];
}

export interface ShownLiability {
  readonly asset: string;
  readonly token: string;
  readonly amount: string;
}

export interface ShownAccount {
  readonly document: string;
  readonly account: string;
  readonly liabilities: readonly ShownLiability[];
  readonly debts: readonly ShownLiability[];
}

type IsIncluded = (account: string, liability: ShownLiability, asset: ShownAsset) => boolean;

/** Loads the example of docs/tokenpay.md, like a shop that copies the code. */
export async function includedByExample(): Promise<IsIncluded> {
  const text = await readFile('docs/tokenpay.md', 'utf8');
  const [, example = ''] = /```ts\n(?<code>[^]*?)```/u.exec(text) ?? [];
  const code = `${stripTypeScriptTypes(example)}\nexport { isIncluded };`;
  const made = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as {
    isIncluded: IsIncluded;
  };
  return made.isIncluded;
}

/** The hash of outputs as docs/tokenpay.md defines it. */
export function hashOfOutputs(outputs: ShownPage['outputs']): string {
  const lines = outputs.map(({ output, address, sats, outcome, runes }) =>
    [`${output} ${address} ${sats} ${outcome}`, ...runes.map((rune) => `${rune.asset}:${rune.amount}`)].join(
      ' ',
    ),
  );
  return createHash('sha256').update(lines.join('\n')).digest('hex');
}
