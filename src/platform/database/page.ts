/** A part of a sorted list. */
export interface Page {
  readonly limit: number;
  /** Rows to skip. */
  readonly offset: number;
  /** Only rows after the one with this id. */
  readonly after?: string;
  /** The value by which that row is sorted, if rows are not sorted by their ids; empty for no value. */
  readonly afterKey?: string;
}
