// Grants, checks, objects and namespaces, and grants that expire, on one service.

import './grants/expiry.ts';
import './grants/resources.ts';
