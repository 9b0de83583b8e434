// Whatever reads, answered by readers: as of grants, rules and AuthZEN, by the tests that hold for any service.

import '../support/service-with-readers.ts';
import '../authzen/conformance-suite.ts';
import '../authzen/evaluations.ts';
import '../authzen/searches.ts';
import '../grants/conditions.ts';
import '../grants/expiry.ts';
import '../grants/resources.ts';
import '../rules/evaluation.ts';
import '../rules/gated-listings.ts';
import '../rules/own-relations.ts';
import '../rules/types.ts';
