/** Tenants that enter one after the other, the process of each started before it is needed. */
import type { Tenant } from '../../systems/system.js';
import type { MetricScene } from './scene.js';

export class NextTenant {
  readonly #scene: MetricScene;
  readonly #ids: () => number;
  #started: Tenant | null = null;

  constructor(scene: MetricScene, ids: () => number) {
    [this.#scene, this.#ids] = [scene, ids];
  }

  startAhead(): void {
    this.#started = { id: this.#ids() };
    this.#scene.startAhead(this.#started);
  }

  /** The tenant that was started ahead, else a new one. */
  take(): Tenant {
    const tenant = this.#started ?? { id: this.#ids() };
    this.#started = null;
    return tenant;
  }
}
