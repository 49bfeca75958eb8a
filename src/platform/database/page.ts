/** Which rows of a sorted list a statement is to bring. */
export interface Page {
  readonly limit: number;
  /** Rows before the first. */
  readonly offset: number;
  /** Only rows that come after the one with this id. */
  readonly after?: string;
}
