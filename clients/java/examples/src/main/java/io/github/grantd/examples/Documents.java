// An application with documents, each readable by its viewers, on an embedded Tomcat. Here the subject comes from a header;
// take it from your session.

package io.github.grantd.examples;

import io.github.grantd.Grantd;
import io.github.grantd.GrantdException;
import io.github.grantd.Guard;
import io.github.grantd.ObjectsQuery;
import io.github.grantd.servlet.RequiresFilter;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import org.apache.catalina.startup.Tomcat;

public final class Documents {
    private static final int DOCUMENTS_MAX = 100;

    private Documents() {}

    private static String subjectOf(HttpServletRequest request) {
        return request.getHeader("X-Subject");
    }

    private static String idOf(HttpServletRequest request) {
        return request.getPathInfo() == null ? "" : request.getPathInfo().substring(1);
    }

    private static final class Pages extends HttpServlet {
        private static final long serialVersionUID = 1;

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            response.setContentType("text/plain;charset=UTF-8");
            response.getWriter().println("This is " + idOf(request) + ".");
        }
    }

    /** Responds with what its reader may read, and nothing else. */
    private static final class Lists extends HttpServlet {
        private static final long serialVersionUID = 1;

        private final transient Grantd grantd;

        Lists(Grantd grantd) {
            this.grantd = grantd;
        }

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            String subject = subjectOf(request);
            if (subject == null) {
                response.sendError(HttpServletResponse.SC_UNAUTHORIZED);
                return;
            }
            List<String> found;
            try {
                found = grantd.listObjects(ObjectsQuery.of(subject, "viewer").withNamespace("document")).stream()
                    .limit(DOCUMENTS_MAX)
                    .map(document -> '"' + document.substring("document:".length()) + '"')
                    .toList();
            } catch (GrantdException error) {
                // Neither a yes nor a no: the request is not served, and may be repeated.
                System.err.println(error);
                response.sendError(HttpServletResponse.SC_SERVICE_UNAVAILABLE);
                return;
            }
            response.setContentType("application/json");
            response.getWriter().println(found);
        }
    }

    public static void main(String[] args) throws Exception {
        Grantd grantd = Grantd.fromEnvironment();
        Guard guard = new Guard(grantd, error -> System.err.println(error));
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(Files.createTempDirectory("documents").toString());
        tomcat.setPort(Integer.parseInt(System.getenv().getOrDefault("PORT", "0")));
        tomcat.getConnector().setProperty("address", "127.0.0.1");
        RequiresFilter viewers = new RequiresFilter(
            guard, Documents::subjectOf, "viewer", request -> "document:" + idOf(request));
        tomcat.addContext("", null).addServletContainerInitializer((classes, context) -> {
            context.addServlet("pages", new Pages()).addMapping("/documents/*");
            context.addServlet("lists", new Lists(grantd)).addMapping("/documents");
            context.addFilter("viewers", viewers).addMappingForServletNames(null, false, "pages");
        }, null);
        tomcat.start();
        System.out.println("http://127.0.0.1:" + tomcat.getConnector().getLocalPort());
        tomcat.getServer().await();
    }
}
