/**
 * The DNS as protocol code sees it. The resolver is always passed in, so that tests and operators decide which servers are
 * asked. network-resolver.ts implements it on the network; test/support/fake-dns.ts serves zones to it.
 *
 * A look-up gives a value and never throws: "no such record" and "no answer" lead to opposite decisions (fail for good, or
 * try again later), so they must not share a catch block.
 */

/**
 * The answer to one DNS question, with its records in the order of the server. `isSecure`: validated by DNSSEC. `aliasOf`:
 * the owner name of the records, at the end of the chain of aliases, if it differs from the name in the question. Only a
 * validating resolver (validating-resolver.ts) sets these two.
 */
export type Lookup<RecordType> =
  | {
      readonly outcome: "found";
      readonly records: readonly RecordType[];
      readonly isSecure?: boolean;
      readonly aliasOf?: string;
    }
  | { readonly outcome: "absent"; readonly reason: "nxdomain" | "nodata"; readonly isSecure?: boolean }
  | {
      readonly outcome: "failed";
      readonly reason: string;
      /** None of our DNS servers has answered in time: not the fault of the name's owner. */
      readonly isUnanswered?: true;
      /** With `isUnanswered`: they answered other questions meanwhile, so the name servers of this name are at fault. */
      readonly othersAnswered?: true;
    };

/** One mail exchanger; `exchange` is lower-case without the trailing dot, "" for the null MX (RFC 7505). */
export interface MxRecord {
  readonly preference: number;
  readonly exchange: string;
}

export interface LookupOptions {
  /** Asks the servers even if a cached answer has not expired. */
  readonly isFresh?: boolean;
}

export interface Resolver {
  mx(name: string, options?: LookupOptions): Promise<Lookup<MxRecord>>;
  ipv4(name: string, options?: LookupOptions): Promise<Lookup<string>>;
  ipv6(name: string, options?: LookupOptions): Promise<Lookup<string>>;
  /** Each record with its character strings joined (RFC 7208 section 3.3). */
  txt(name: string, options?: LookupOptions): Promise<Lookup<string>>;
  cname(name: string, options?: LookupOptions): Promise<Lookup<string>>;
  ns(name: string, options?: LookupOptions): Promise<Lookup<string>>;
}
