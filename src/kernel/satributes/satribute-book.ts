import type { NetworkName } from '#kernel/primitives/network.ts';
import { builtInSatributes, satributeId } from './definitions.ts';
import { type FoundProvenance, madeOutputName, withFound } from './provenance.ts';
import { type MadeOutput, type Satribute, whyUnknown } from './satribute.ts';

/**
 * The definitions that are used on a network. They are the definitions of this version, with the operator's definitions
 * in place of unknown ones, and the traced sats of their outputs. A book never changes. New results make another book.
 */
export class SatributeBook {
  readonly network: NetworkName;
  /** All satributes, in the order of answers. */
  readonly satributes: readonly Satribute[];
  /** Satributes that can be found on this network, in the order of answers. */
  readonly findable: readonly Satribute[];
  readonly #byId: ReadonlyMap<string, Satribute>;

  /** @param own definitions of the operator, which replace definitions with the same id */
  constructor(network: NetworkName, own: readonly Satribute[] = [], found: FoundProvenance = new Map()) {
    const ownById = new Map(own.map((satribute) => [satribute.id, satribute]));
    this.network = network;
    this.satributes = builtInSatributes.map((builtIn) => {
      const satribute = ownById.get(builtIn.id) ?? builtIn;
      const { rule } = satribute;
      return rule.kind === 'provenance' ? { ...satribute, rule: withFound(rule, found) } : satribute;
    });
    this.#byId = new Map(this.satributes.map((satribute) => [satribute.id, satribute]));
    this.findable = this.satributes.filter((satribute) => this.isFindable(satribute));
  }

  /** The satribute with this id, or with this spelling in a public interface. `null` if it is unknown. */
  find(spelling: string): Satribute | null {
    const id = satributeId(spelling);
    return id === null ? null : (this.#byId.get(id) ?? null);
  }

  /** Whether a satribute applies to this network. */
  isMeant({ networks }: Satribute): boolean {
    return networks === 'all' || networks === this.network;
  }

  /** Whether sats of this network can have a satribute. Its sats must be known, and it must apply to this network. */
  isFindable(satribute: Satribute): boolean {
    return this.isMeant(satribute) && whyUnknown(satribute.rule) === null;
  }

  /** The outputs whose sats must be known so that the book is complete, each once. */
  get outputs(): readonly MadeOutput[] {
    const all = this.satributes.flatMap((satribute) =>
      this.isMeant(satribute) && satribute.rule.kind === 'provenance' ? satribute.rule.outputs : [],
    );
    return [...new Map(all.map((output) => [madeOutputName(output), output])).values()];
  }
}
