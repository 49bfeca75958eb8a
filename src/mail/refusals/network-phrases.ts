/**
 * Texts of mail systems that could not connect to the next server or find its host. Data for reply-rules.ts, for text
 * without accents.
 */
import { NO_DOMAIN } from "./phrases-by-language.ts";

/** Words of a server that refuses connections on purpose. */
export const CONNECTION_POLICY =
  /polic|abuse|reputation|spam|black-? ?list|block-? ?list|your ip|banned|rate limit|too many/;

/** The next server could not be reached, or TLS with it failed. */
export const CONNECTION_FAULT: readonly RegExp[] = [
  /connect(?:ion)?(?: to \S+){1,2}(?: \S+){0,3}? (?:connection )?(?:refused|timed out|reset|failed|no route|network)/,
  /connect(?:ion)? to(?: \S+){0,4}:? ?(?:(?:connection|operation) (?:refused|timed out|reset)|broken pipe|permission denied)/,
  /no route to host|network is unreachable|host is (?:down|unreachable)|network error|(?:host|network|destination|server) unreachable/,
  /connection reset(?: by peer)?|reset by peer|broken pipe|socket (?:error|closed|timed ?out)|socketerror|sockettimedout|winsock|econn\w+|etimedout|ehostunreach|enetunreach/,
  /(?:deferred|delayed|errno|error \d+|\(?111\)?):? connection refused|connection refused (?:by|from|at) (?:mx|host|mail|smtp|remote|peer|destination|the (?:remote|destination|mail))|connection refused[: ]+(?:errno )?\(?(?:111|61|10061)/,
  /(?:did not accept|refused) our requests? to connect|(?:unable|wasn't able|not able|failed|cannot|can't|could not|couldn't) to (?:connect|establish)|(?:failed|cannot|can't|could not|couldn't) (?:to )?(?:open|make|establish|connect)(?: \S+){0,4} (?:connection|connect|session|server|host)/,
  /(?:tls|ssl|starttls)(?: \S+){0,3}? (?:handshake|negotiat\w+|session|alert|connect(?:ion)?)(?: \S+){0,3}? (?:fail\w*|error|refused|abort\w*|closed|timed)/,
  /handshake (?:fail\w*|error|timed|was)|(?:start tls|ssl connect|sslv3 alert)|ssl routines|(?:tls|starttls) (?:is )?(?:required|needed|failed|failure),? (?:but|and) (?:was |is )?not (?:offered|available|supported|advertised)/,
  /certificate(?: \S+){0,3} (?:fail\w*|expired|not (?:trusted|verified|valid)|invalid|mismatch|rejected|untrusted|self[- ]signed)|(?:untrusted|invalid|expired|self[- ]signed) certificate|cannot (?:verify|authenticate) (?:the )?(?:server|peer)/,
  /connexion (?:refusee|expiree|interrompue)|verbindung(?: \S+){0,3} (?:abgelehnt|verweigert|unterbrochen|fehlgeschlagen)|zeituberschreitung|conexion (?:rechazada|agotada)|connessione (?:rifiutata|scaduta)|conexao (?:recusada|expirada)/,
  /(?:server|rechner|host)(?: \S+){0,3} nicht erreichbar|keine verbindung(?: \S+){0,6} (?:moglich|hergestellt|aufgebaut)|connexion(?: \S+){0,3} impossible|impossible de (?:se connecter|joindre le serveur|contacter le serveur)|serveur(?: \S+){0,3} (?:injoignable|inaccessible|ne repond pas)/,
  /no se (?:pudo|ha podido|puede) (?:conectar|establecer)|nao foi possivel (?:conectar|se conectar|estabelecer)|servidor(?: \S+){0,3} (?:no responde|nao responde|inaccesible|inacessivel)|impossibile (?:connettersi|collegarsi|stabilire)|server(?: \S+){0,3} (?:non (?:raggiungibile|risponde)|onbereikbaar|niet bereikbaar)|geen verbinding|nie (?:mozna|udalo sie) (?:polaczyc|nawiazac)/,
  /не (?:удалось|удается) (?:соединиться|подключиться|установить соединение)|сервер\p{L}*(?: \S+){0,3} (?:недоступ|не отвеча)\p{L}*|(?:无法|無法|不能)(?:连接|連接|连线|連線)|(?:连接|連接|連線)(?:超时|超時|逾時|失败|失敗)|接続(?:でき(?:ません|ない|なかった)|に失敗|がタイムアウト)|연결(?:할 수 없|에 실패|하지 못)/u,
];

/**
 * Counts as a network fault only with a network code or if no server was reached; otherwise it is unclear who closed
 * the connection.
 */
export const CONNECTION_LOST: readonly RegExp[] = [
  /connections?(?: \S+){0,3} (?:refused|rejected|dropped|lost|closed|died|timed ?out|failed|aborted)/,
];

/** A name server that does not answer says nothing about the domain. */
export const NAME_SERVER_FAULT: readonly RegExp[] = [
  /(?:not found|not be found|name (?:server|service|resolution)|dns|look-?ups?|resol\w+|nslookup|mx)[,:;]?(?: \S+){0,14} (?:try again|servfail|serv fail|server fail\w*|time-? ?out|timed out|no answer|malformed|refused|temporar\w*)/,
  /temporary failure in name resolution|temporary dns|dns timeout|(?:dns|mx|name)(?: \S+){0,4} temporar\w*|eai_again|try_again/,
];

const OTHERS = "(?<!\\b(?:your|sender|sender's|sending|from|helo|ehlo|reverse|client|envelope)(?: \\S+)? )";
const HOST = `(?=mail|host|domain|dns)${OTHERS}(?:mail )?(?:host|domain|mail server|dns)(?: or domain)?(?: ?name)?`;

/** Words for a name server's authoritative answer that the domain does not exist (RFC 2308 section 2.1). */
export const CERTAINLY_NO_DOMAIN =
  /nxdomain|infodomainnonexistent|\bdomain name not found|non-?existent-?domain/;

/** The recipient's domain does not exist or has no mail host. */
export const NO_SUCH_DOMAIN: readonly RegExp[] = [
  new RegExp(
    `${HOST},?(?: \\S+\\.\\S+)? (?:is |was )?(?:unknown|non-?existent)(?! (?:error|problem|reason|failure|exception|status))`,
  ),
  new RegExp(
    `${HOST}(?:,? (?!said|sender|your|user|mail ?box|recipient|account|reverse|helo|route|file|page)\\S+){0,4} (?:(?:was |were |is |be )?not (?:be )?found|(?:does|do|did) not exist|(?:doesn't|not) exist|(?:wasn't|couldn't be|can't be|isn't) found)`,
  ),
  new RegExp(
    `${OTHERS}domain(?: ?name)? (?:is )?invalid|${OTHERS}domain(?: \\S+){0,3} has no (?:valid )?(?:mx|mail (?:server|exchanger|host)s?)`,
  ),
  /(?:no such|unknown|non-?existent|unroute?able|bad destination) (?:mail )?(?:host|domain)(?: ?name)?/,
  /nxdomain|non-?existent-?domain|infodomainnonexistent|hard error looking up|look-?ups? failed permanently/,
  /(?:unable to|can ?not|could not|can't|couldn't|weren't able to) find (?:the |any |a )?(?:recipient )?(?:hosts?|mail exchanger|domain)(?: named?)?/,
  /(?:mx|srv) record indicated no smtp service/,
  /no (?:mx|a|aaaa|address|mail exchanger)s?(?:,? (?:or|nor|and|\/)? ?(?:a|aaaa|mx|ip|address))*(?: records?| hosts?)(?: \S+)? (?:for|found|exists?)|no mail hosts? for/,
  /host found but no data record|no data known|no address associated with|name or service not known|nodename nor servname/,
  /null ?-?mx|(?:domain|host)(?: \S+)? does not accept (?:any )?e?-?mail(?! (?!null|at all)\w)/,
  ...NO_DOMAIN,
];
