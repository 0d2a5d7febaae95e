import type { NetworkName } from '#kernel/primitives/network.ts';
import { builtInSatributes, satributeId } from './definitions.ts';
import { type FoundProvenance, madeOutputName, withFound } from './provenance.ts';
import { type MadeOutput, type Satribute, whyUnknown } from './satribute.ts';

/**
 * The definitions in force on a network: those of this version, with the operator's in place of unknown ones, and the
 * traced sats of their outputs. It never changes: new results make another book.
 */
export class SatributeBook {
  readonly network: NetworkName;
  /** In the order of answers. */
  readonly satributes: readonly Satribute[];
  /** Satributes that can be found here, in their order. */
  readonly findable: readonly Satribute[];
  readonly #byId: ReadonlyMap<string, Satribute>;

  /** @param own definitions of the operator's, which replace those with the same id */
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

  /** The satribute with this id, or with this spelling in a public interface. Null: unknown. */
  find(spelling: string): Satribute | null {
    const id = satributeId(spelling);
    return id === null ? null : (this.#byId.get(id) ?? null);
  }

  /** Whether it applies to this network. */
  isMeant({ networks }: Satribute): boolean {
    return networks === 'all' || networks === this.network;
  }

  /** Whether sats of this network can have it: its sats are known, and it applies here. */
  isFindable(satribute: Satribute): boolean {
    return this.isMeant(satribute) && whyUnknown(satribute.rule) === null;
  }

  /** The outputs whose sats must be known for it to be complete, each once. */
  get outputs(): readonly MadeOutput[] {
    const all = this.satributes.flatMap((satribute) =>
      this.isMeant(satribute) && satribute.rule.kind === 'provenance' ? satribute.rule.outputs : [],
    );
    return [...new Map(all.map((output) => [madeOutputName(output), output])).values()];
  }
}
