/** A guard for servlets. It needs {@code jakarta.servlet-api}, which an application with servlets has. */
package io.github.grantd.servlet;
