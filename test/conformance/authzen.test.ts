// The AuthZEN interface, on one service.

import './authzen/conformance-suite.ts';
import './authzen/evaluations.ts';
import './authzen/searches.ts';
