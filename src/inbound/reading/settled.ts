/** How a mail ends. */
export interface Settled {
  readonly status: "processed" | "quarantined" | "kept";
  readonly result: string;
}

export const processed = (result: string): Settled => ({ status: "processed", result });

export const quarantined = (result: string): Settled => ({ status: "quarantined", result });
