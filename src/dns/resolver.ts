/**
 * What protocol code may ask of the DNS. The resolver is always passed in, so that tests and operators decide
 * which servers are asked (dns/system.ts implements it on the network, test/support/fake-dns.ts serves zones).
 *
 * A lookup is a value, never an exception: "there is no such record" and "nobody could tell us" lead to opposite
 * decisions (refuse for good or try again later), so they must not share a catch block.
 */

/**
 * The answer to one DNS question. Record order is the server's. `isSecure`: DNSSEC vouches for it. `aliasOf`: the name
 * that the records stand under, at the end of all aliases, where it is not the one asked for. Only a validating resolver
 * (dns/validating.ts) says either.
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
      /** None of our servers has said anything, in time or at all: that is no fault of the name's owner. */
      readonly isUnanswered?: true;
      /** Of `isUnanswered`: they answered other questions meanwhile, so that the name servers of this name are at fault. */
      readonly othersAnswered?: true;
    };

/** One mail exchanger; `exchange` is lower-case without the trailing dot, "" for the null MX (RFC 7505). */
export interface MxRecord {
  readonly preference: number;
  readonly exchange: string;
}

export interface How {
  /** Asks the servers even where an answer is known whose TTL has not passed. */
  readonly isFresh?: boolean;
}

export interface Resolver {
  mx(name: string, how?: How): Promise<Lookup<MxRecord>>;
  ipv4(name: string, how?: How): Promise<Lookup<string>>;
  ipv6(name: string, how?: How): Promise<Lookup<string>>;
  /** Each record with its character strings joined (RFC 7208 section 3.3). */
  txt(name: string, how?: How): Promise<Lookup<string>>;
  cname(name: string, how?: How): Promise<Lookup<string>>;
  ns(name: string, how?: How): Promise<Lookup<string>>;
}
