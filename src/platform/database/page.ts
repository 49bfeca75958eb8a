/** Which rows of a sorted list a statement is to bring. */
export interface Page {
  readonly limit: number;
  /** Rows before the first. */
  readonly offset: number;
}
